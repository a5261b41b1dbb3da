package pace

import (
	"fmt"
	"time"
)

var _ Profile = Share{}

// Share is what one of several load generators sends of a profile: of all intended
// times every Of-th, from number Index on. The shares of a profile with one seed
// are together that profile.
type Share struct {
	Whole Profile
	Index int // 0 to Of-1
	Of    int // load generators; at least 1
}

// Times yields the whole's times number Index, Index+Of, Index+2·Of, …
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

// Mean is the share of the whole's mean rate.
func (s Share) Mean(d time.Duration) float64 { return s.Whole.Mean(d) / float64(s.Of) }

// String is e.g. 1 of 3 of 6000/s.
func (s Share) String() string { return fmt.Sprintf("%d of %d of %s", s.Index+1, s.Of, s.Whole) }
