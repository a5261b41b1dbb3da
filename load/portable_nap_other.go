//go:build !linux

package load

import "time"

func sharpen() {}

// nap sleeps for about d.
func nap(d time.Duration) { time.Sleep(d) }
