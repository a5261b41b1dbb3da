//go:build unix

package serve

import (
	"os"
	"os/signal"
	"syscall"
)

// newSession returns attributes that make a service start in a new session. The terminal's signals then
// reach only tare, which forwards them once.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// forwardSignal sends a service the signal that tare got. It sends SIGTERM instead of SIGHUP, which means
// that the terminal has ended.
func forwardSignal(p *os.Process, s os.Signal) {
	if s == syscall.SIGHUP {
		s = syscall.SIGTERM
	}
	_ = p.Signal(s) // fails if the service has ended
}

// exitCode returns the exit code of a process. If a signal ended the process, it returns 128 plus the
// number of the signal, like a shell.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// notifyHangup returns a channel that receives SIGHUP, or nil if this process ignores SIGHUP, as under
// nohup. restore ends the notifications.
func notifyHangup() (hangups <-chan os.Signal, restore func()) {
	if signal.Ignored(syscall.SIGHUP) {
		return nil, func() {}
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
