package relay

import (
	"sync"
	"time"
)

const (
	maxBurst = time.Millisecond      // an idle link immediately carries the bytes of this time
	maxAhead = 10 * time.Millisecond // how far ahead of time the link is reserved
)

// link is one direction of the network path that a relay imitates: a token
// bucket that all connections share. A nil link is unlimited.
type link struct {
	bitsPerSecond float64

	mu   sync.Mutex
	next time.Time // time at which the link will have carried all bytes so far
}

// newLink returns a link with a bandwidth, or nil if the bandwidth is 0, which means unlimited.
func newLink(bitsPerSecond int64) *link {
	if bitsPerSecond == 0 {
		return nil
	}
	return &link{bitsPerSecond: float64(bitsPerSecond)}
}

// nextFree returns when the link accepts more bytes. Until then the sender's buffers fill, and its writes
// block, as on a real path.
func (l *link) nextFree() time.Time {
	if l == nil {
		return time.Time{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next.Add(-maxAhead)
}

// reserve adds n bytes to the link and returns when it will have carried them.
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
