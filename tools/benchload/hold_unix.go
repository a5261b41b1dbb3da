//go:build unix

package main

import (
	"syscall"
	"time"
)

// pauseFor stops the server for d and returns the actual duration of the stop.
func (s *server) pauseFor(d time.Duration) (time.Duration, error) {
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return 0, err
	}
	begun := time.Now()
	time.Sleep(d)
	err := s.cmd.Process.Signal(syscall.SIGCONT)
	return time.Since(begun), err
}
