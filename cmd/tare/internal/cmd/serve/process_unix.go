//go:build unix

package serve

import (
	"os"
	"os/signal"
	"syscall"
)

// outOfReach starts a service in a session of its own: the terminal's signals
// come to tare, which hands them on, once.
func outOfReach() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// handOn sends a service the signal that tare was sent. A terminal that is gone
// is a reason to end, like any other.
func handOn(p *os.Process, s os.Signal) {
	if s == syscall.SIGHUP {
		s = syscall.SIGTERM
	}
	_ = p.Signal(s) // or it has ended by now
}

// exitCode is what a shell would call it.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// hangUps tells of the end of the terminal, unless that is of no concern, as
// under nohup.
func hangUps() (hung <-chan os.Signal, restore func()) {
	if signal.Ignored(syscall.SIGHUP) {
		return nil, func() {}
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
