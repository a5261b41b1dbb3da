//go:build unix

package main

import (
	"syscall"
	"time"
)

// hold stops the server for d and returns how long it really was.
func (s *server) hold(d time.Duration) (time.Duration, error) {
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return 0, err
	}
	from := time.Now()
	time.Sleep(d)
	err := s.cmd.Process.Signal(syscall.SIGCONT)
	return time.Since(from), err
}
