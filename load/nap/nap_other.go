//go:build !linux

package nap

import "time"

// New returns a timer that uses [time.Sleep].
func New() *Timer { return &Timer{} }

// waitFor returns false: no better timer is available on this system.
func (*Timer) waitFor(time.Duration) bool { return false }
