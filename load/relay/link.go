package relay

import (
	"sync"
	"time"
)

const (
	maxBurst = time.Millisecond      // bytes of this time pass an idle link immediately
	maxAhead = 10 * time.Millisecond // the link is reserved at most so far ahead
)

// link is one direction of a simulated network path: a token bucket that all connections share. A nil link
// is unlimited.
type link struct {
	bitsPerSecond float64

	mu   sync.Mutex
	next time.Time // time at which all bytes so far have passed
}

// newLink returns a link with a bandwidth. 0 means unlimited.
func newLink(bitsPerSecond int64) *link {
	if bitsPerSecond == 0 {
		return nil
	}
	return &link{bitsPerSecond: float64(bitsPerSecond)}
}

// nextFree returns when the link accepts more bytes. Until then the sender's writes block, as on a real
// path.
func (l *link) nextFree() time.Time {
	if l == nil {
		return time.Time{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next.Add(-maxAhead)
}

// reserve adds n bytes to the link and returns when they will have passed.
func (l *link) reserve(n int, now time.Time) time.Time {
	if l == nil {
		return now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if idle := now.Add(-maxBurst); l.next.Before(idle) {
		l.next = idle
	}
	l.next = l.next.Add(time.Duration(float64(n) * 8 / l.bitsPerSecond * float64(time.Second)))
	return l.next
}
