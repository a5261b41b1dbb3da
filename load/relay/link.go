package relay

import (
	"sync"
	"time"
)

const (
	burst = time.Millisecond      // what an idle link carries at once
	queue = 10 * time.Millisecond // how far ahead of time the link is given away
)

// link is one direction of the path: a token bucket that all connections
// share. A nil link has no bound.
type link struct {
	bitsPerSecond float64

	mu   sync.Mutex
	next time.Time // when everything given to the link so far will be through
}

// newLink is a link of that many bits per second; nil where there is no bound.
func newLink(bitsPerSecond int64) *link {
	if bitsPerSecond == 0 {
		return nil
	}
	return &link{bitsPerSecond: float64(bitsPerSecond)}
}

// free is when the link may be given more. Until then the sender's own
// buffers fill, and its writes wait, as on a real path.
func (l *link) free() time.Time {
	if l == nil {
		return time.Time{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next.Add(-queue)
}

// carry gives n bytes to the link and returns when they are through.
func (l *link) carry(n int, now time.Time) time.Time {
	if l == nil {
		return now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if idle := now.Add(-burst); l.next.Before(idle) {
		l.next = idle
	}
	l.next = l.next.Add(time.Duration(float64(n) * 8 / l.bitsPerSecond * float64(time.Second)))
	return l.next
}
