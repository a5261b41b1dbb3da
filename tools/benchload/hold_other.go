//go:build !unix

package main

import (
	"errors"
	"time"
)

func (s *server) hold(time.Duration) (time.Duration, error) {
	return 0, errors.New("this system cannot stop a process for a while")
}
