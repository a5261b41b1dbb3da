//go:build !linux

package load

import "time"

// confinement does nothing: processors cannot be restricted on this system.
type confinement struct{}

func confineThreads([]int) *confinement { return &confinement{} }

func (*confinement) release() {}

func (*confinement) countAllowed() int { return 0 }

// threadWaits returns nil: run queue waits are unknown on this system.
func threadWaits() map[int]time.Duration { return nil }
