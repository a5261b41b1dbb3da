//go:build unix

package trial

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// What one part prints to a terminal.
const (
	lots     = 5000
	lotsLine = "GET /v1/id/7 200 11 0.000012\n"
)

// playCommand is a program without the wire; false: it has no such part.
func playCommand(part string) (status int, ok bool) {
	told := make(chan os.Signal, 1)
	switch part {
	case "ends when told":
		signal.Notify(told, syscall.SIGTERM)
		fmt.Println("up")
		<-told
		fmt.Println("down")
	case "sleeps through signals":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("up")
		time.Sleep(time.Hour)
	case "leaves a child and waits":
		signal.Notify(told, syscall.SIGTERM)
		leave()
		fmt.Println("up")
		<-told
	case "prints without end":
		for {
			fmt.Print(lotsLine)
		}
	case "prints a lot":
		for range lots {
			fmt.Print(lotsLine)
		}
	case "looks at stdout":
		if info, err := os.Stdout.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			fmt.Println("terminal")
		} else {
			fmt.Println("other")
		}
	case "overwrites its environment":
		if err := overwrite(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1, true
		}
	default:
		return 0, false
	}
	return 0, true
}

// overwrite clears the environment that /proc shows of this process, and starts two
// children without one: one in its group, one in a session of its own.
func overwrite() error {
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	begin, end, err := environArea()
	if err != nil {
		return err
	}
	if _, err := mem.WriteAt(make([]byte, end-begin), begin); err != nil {
		return err
	}
	child := func(session bool) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = []string{envPart + "=sleep"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
		return cmd
	}
	startNoted(child(false))
	startNoted(child(true))
	if _, err := os.Stdout.WriteString("ready\n"); err != nil {
		return err
	}
	time.Sleep(time.Hour)
	return nil
}

// environArea is where the kernel looks for this process's environment: env_start
// and env_end of proc(5), the 50th and 51st field.
func environArea() (begin, end int64, err error) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, err
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 49 {
		return 0, 0, fmt.Errorf("/proc/self/stat has %d fields", len(f))
	}
	_, err = fmt.Sscan(f[47]+" "+f[48], &begin, &end)
	return begin, end, err
}
