//go:build !linux

package machine

import "time"

// cpuTime is not supported on this system.
func cpuTime(int) (used time.Duration, ok bool) { return 0, false }
