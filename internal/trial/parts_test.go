//go:build unix

package trial

import (
	"fmt"
	"os"
	"os/signal"
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
	default:
		return 0, false
	}
	return 0, true
}
