//go:build unix

package serve

import (
	"os"
	"os/signal"
	"syscall"
)

// newSession makes a service start in a new session. The terminal's signals then reach only tare, which
// forwards them once.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// forwardSignal sends a service the signal that tare got. SIGHUP, the end of the terminal, becomes
// SIGTERM.
func forwardSignal(p *os.Process, s os.Signal) {
	if s == syscall.SIGHUP {
		s = syscall.SIGTERM
	}
	_ = p.Signal(s) // fails if the service has ended
}

// exitCode returns the exit code of a process. For a signal it is 128 plus the signal's number, like in
// a shell.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// notifyHangup returns a channel that receives SIGHUP, or nil if this process ignores SIGHUP, as
// under nohup. restore ends the notifications.
func notifyHangup() (hangups <-chan os.Signal, restore func()) {
	if signal.Ignored(syscall.SIGHUP) {
		return nil, func() {}
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
