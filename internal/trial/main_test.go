//go:build unix

package trial

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// The test binary is every process these tests need: it plays the part that
// this variable names.
const envPart = "TARE_TEST_PART"

// quick keeps the race detector from waiting a second at the end of every
// process.
const quick = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if GuardianMain() {
		return
	}
	if part := os.Getenv(envPart); part != "" {
		os.Exit(play(part))
	}
	os.Exit(m.Run())
}

// play is a contender, well behaved up to the point its part is about.
func play(part string) int {
	if status, ok := playCommand(part); ok {
		return status
	}
	switch part {
	case "sleep":
		time.Sleep(time.Hour)
	case "tare":
		return playTare()
	case "forks and ends": // so that the child is nobody's
		leave()
		return 0
	case "allocates alone":
		allocate()
	case "mute": // never opens the wire
		time.Sleep(time.Hour)
	case "crash at once":
		fmt.Fprintln(os.Stderr, "no licence found")
		return 3
	}
	in, out, ok, err := wire.Pipes()
	if !ok || err != nil {
		fmt.Fprintln(os.Stderr, "no wire:", err)
		return 2
	}
	requests, replies := wire.NewReader(in), wire.NewWriter(out)
	for {
		q, err := requests.Request()
		if err == io.EOF {
			if part == "ignores the end" {
				signal.Ignore(syscall.SIGTERM)
				time.Sleep(time.Hour)
			}
			return 0
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		a := wire.Reply{ID: q.ID}
		switch q.Op {
		case wire.OpHello:
			a.Protocol, a.PID, a.Go, a.GOMAXPROCS = wire.Protocol, os.Getpid(), runtime.Version(), runtime.GOMAXPROCS(0)
		case wire.OpAnswer: // the environment, for those who want to see it
			for _, c := range q.Cases {
				a.Answers = append(a.Answers, wire.Answer{Case: c, Output: []byte(strings.Join(os.Environ(), "\n"))})
			}
		case wire.OpWarm, wire.OpStats:
			a.Ops, a.WallNS, a.CPUNS = max(1, q.Ops), 1000, 900
		case wire.OpSlice:
			a.Ops, a.WallNS, a.CPUNS = max(1, q.Ops), 1000, 900
			if status := misbehave(part, q, out, &a); status >= 0 {
				return status
			}
		case wire.OpBye:
			switch part {
			case "ignores the end":
				continue
			case "fails at the end":
				return 7
			}
		}
		if err := replies.Reply(a); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if q.Op == wire.OpBye && part != "ignores the end" {
			return 0
		}
	}
}

// misbehave does what the part is about, in a slice. It returns a status to
// exit with, or a negative one to go on.
func misbehave(part string, q wire.Request, out io.WriteCloser, a *wire.Reply) int {
	switch part {
	case "hangs":
		time.Sleep(time.Hour)
	case "late":
		time.Sleep(time.Duration(q.CapNS))
	case "exits":
		fmt.Fprintln(os.Stderr, "first line\nout of luck")
		return 3
	case "panics":
		panic("lost my head")
	case "kills itself":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	case "floods stdout":
		flood := []byte(strings.Repeat("x", 64<<10) + "\n")
		for {
			_, _ = os.Stdout.Write(flood)
		}
	case "prints":
		fmt.Print(strings.Repeat("o", 10_000))
		fmt.Fprint(os.Stderr, strings.Repeat("e", 20_000)+"end")
	case "garbage":
		_, _ = io.WriteString(out, "hello\x00 world, this is no JSON\n")
		time.Sleep(time.Hour)
	case "endless line":
		w := bufio.NewWriterSize(out, 1<<20)
		_, _ = w.WriteString(`{"id":1,"message":"`)
		for {
			if _, err := w.WriteString("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"); err != nil {
				time.Sleep(time.Hour)
			}
		}
	case "half a line":
		_, _ = io.WriteString(out, `{"id":`)
		_ = out.Close()
		time.Sleep(time.Hour)
	case "closes the wire":
		_ = out.Close()
		time.Sleep(time.Hour)
	case "wrong id":
		a.ID += 7
	case "error":
		a.Error = &wire.Error{Class: "internal", Message: "two\nlines"}
	case "no ops":
		a.Ops = 0
	case "allocates":
		allocate()
	case "child allocates":
		if err := self("allocates alone").Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		time.Sleep(time.Hour)
	case "leaves a child", "leaves a child and exits":
		leave()
		_ = self("forks and ends").Run()
		if part == "leaves a child and exits" {
			return 0
		}
	case "leaves a child without tags":
		cmd := self("sleep")
		cmd.Env = []string{envPart + "=sleep"}
		leave(cmd)
	case "leaves a child on the wire":
		// It inherits the descriptors that the wire is on, and keeps them open.
		cmd := self("sleep")
		cmd.ExtraFiles = []*os.File{os.NewFile(3, "in"), os.NewFile(4, "out")}
		leave(cmd)
		return 5
	}
	return -1
}

// self is this program in another part, with the environment it has itself.
func self(part string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), quick, envPart+"="+part)
	return cmd
}

// envPIDs names a file to which the numbers of processes left are added.
const envPIDs = "TARE_TEST_PIDS"

// leave starts a process in a session of its own, which sleeps for ever.
func leave(cmds ...*exec.Cmd) {
	if len(cmds) == 0 {
		cmds = []*exec.Cmd{self("sleep")}
	}
	for _, cmd := range cmds {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		startNoted(cmd)
	}
}

// startNoted starts a process and adds its number to the file.
func startNoted(cmd *exec.Cmd) {
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	f, err := os.OpenFile(os.Getenv(envPIDs), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintln(f, cmd.Process.Pid)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = f.Close()
}

// allocate takes memory without end, about 4 GiB a second.
func allocate() {
	var hold [][]byte
	for {
		b := make([]byte, 4<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		hold = append(hold, b)
		time.Sleep(time.Millisecond)
		runtime.KeepAlive(hold)
	}
}
