// Command hostile is a contender that misbehaves once it is being timed, in
// the way its variant says.
package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/tarebench/tare/contender/codec"
)

// patience is how long everything is done well first: longer than a pilot
// takes, so that most of it goes wrong in the middle of a round.
const patience = 700 * time.Millisecond

var began = time.Now()

func main() {
	if len(os.Args) > 1 { // a child that outlives its parent
		time.Sleep(10 * time.Minute)
		return
	}
	variants := map[string]codec.Impl{"sound": {Marshal: json.Marshal}}
	for name, act := range map[string]func(){
		"hang":  func() { time.Sleep(time.Hour) },
		"crash": func() { os.Exit(3) },
		"panic": func() { panic("made up") },
		"flood": func() {
			for line := strings.Repeat("x", 1<<20); ; {
				os.Stdout.WriteString(line)
			}
		},
		"garbage": func() {
			_, out, _ := strings.Cut(wire, ",")
			fd := int(out[0] - '0')
			syscall.Write(fd, []byte("this is not the protocol\n"))
		},
	} {
		variants[name] = codec.Impl{Marshal: once(act)}
	}
	variants["hoard"] = codec.Impl{Marshal: func(v any) ([]byte, error) {
		if time.Since(began) > patience { // a little with every operation, so that no slice takes too long
			b, err := syscall.Mmap(-1, 0, 64<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
			if err != nil {
				return nil, err
			}
			_ = syscall.Madvise(b, madvHugepage) // far fewer page faults, where the kernel takes it
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
		}
		return json.Marshal(v)
	}}
	variants["wrong"] = codec.Impl{Marshal: func(any) ([]byte, error) { return []byte(`{"not":"it"}`), nil }}
	variants["fork"] = codec.Impl{Marshal: forking()}
	variants["errors"] = codec.Impl{Marshal: func(v any) ([]byte, error) {
		if time.Since(began) > patience {
			return nil, errors.New("made up")
		}
		return json.Marshal(v)
	}}
	codec.Variants(variants)
}

const madvHugepage = 14 // of Linux

var wire = os.Getenv("TARE_WIRE")

// once encodes well until patience is over, then does act.
func once(act func()) func(any) ([]byte, error) {
	done := false
	return func(v any) ([]byte, error) {
		if !done && time.Since(began) > patience {
			done = true
			act()
		}
		return json.Marshal(v)
	}
}

// forking encodes well and leaves behind a child in a session of its own.
func forking() func(any) ([]byte, error) {
	started := false
	return func(v any) ([]byte, error) {
		if !started {
			started = true
			child := exec.Command(os.Args[0], "child")
			child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := child.Start(); err != nil {
				return nil, err
			}
		}
		return json.Marshal(v)
	}
}
