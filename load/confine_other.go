//go:build !linux

package load

import "time"

// confinement would keep this process on some processors, which cannot be done
// here.
type confinement struct{}

func confine([]int) *confinement { return &confinement{} }

func (*confinement) end() {}

// allowed is how many processors the threads can run on; zero: it cannot be told.
func (*confinement) allowed() int { return 0 }

// threadWaits would be how long threads were ready and did not run.
func threadWaits() map[int]time.Duration { return nil }
