//go:build !linux

package nap

import "time"

// New makes a timer.
func New() *Timer { return &Timer{} }

// wait is false: nothing here waits better than [time.Sleep].
func (*Timer) wait(time.Duration) bool { return false }
