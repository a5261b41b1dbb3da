package pace

import (
	"fmt"
	"time"
)

var _ Profile = Share{}

// Share is the part of a profile that one of several load generators sends. It has every Of-th intended
// time, from number Index on. With the same seed everywhere, the shares together are the profile.
type Share struct {
	Whole Profile
	Index int // 0 to Of-1
	Of    int // number of load generators; at least 1
}

// Times returns the times number Index, Index+Of, Index+2·Of, … of the shared profile.
func (s Share) Times(seed uint64) func() time.Duration {
	next := s.Whole.Times(seed)
	skip := s.Index
	return func() time.Duration {
		for range skip {
			next()
		}
		skip = s.Of - 1
		return next()
	}
}

// Mean returns the share of the profile's mean rate.
func (s Share) Mean(d time.Duration) float64 { return s.Whole.Mean(d) / float64(s.Of) }

// String returns e.g. 1 of 3 of 6000/s.
func (s Share) String() string { return fmt.Sprintf("%d of %d of %s", s.Index+1, s.Of, s.Whole) }
