//go:build unix

package main

import (
	"syscall"
	"time"
)

// pauseFor suspends the server's process for d (SIGSTOP, SIGCONT) and returns the actual duration.
func (s *server) pauseFor(d time.Duration) (time.Duration, error) {
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return 0, err
	}
	begun := time.Now()
	time.Sleep(d)
	err := s.cmd.Process.Signal(syscall.SIGCONT)
	return time.Since(begun), err
}
