//go:build !linux

package nap

import "time"

// New returns a timer that uses [time.Sleep].
func New() *Timer { return &Timer{} }

// waitFor returns false: this system has no better timer.
func (*Timer) waitFor(time.Duration) bool { return false }
