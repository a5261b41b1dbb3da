//go:build !unix

package main

import (
	"errors"
	"time"
)

// pauseFor returns an error: this system has no signal that suspends a process.
func (s *server) pauseFor(time.Duration) (time.Duration, error) {
	return 0, errors.New("this system cannot stop a process for a while")
}
