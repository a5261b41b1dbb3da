package homelab

import (
	"container/list"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// refillTime fills an empty bucket.
	refillTime = time.Minute
	// maxClients with buckets bound the memory.
	maxClients = 10_000
)

// limiter limits requests by client. Each client has a bucket of tokens, refilled at a constant rate. A
// request takes one, or is rejected.
//
// Buckets are ordered by last use. One that was not used for refillTime is full and can be dropped, because a
// new one is full, too. Above capacity the least recently used is dropped anyway.
type limiter struct {
	rate     int // tokens of a full bucket, added in refillTime
	capacity int // largest number of buckets
	now      func() time.Time

	mu      sync.Mutex
	buckets map[string]*list.Element // elements of recent, by client
	recent  *list.List               // *bucket, the most recently used first
}

type bucket struct {
	client string
	tokens float64   // number at the last use
	used   time.Time // time of the last use
}

// newLimiter returns a limiter, or nil if rate is 0, which means no limit.
func newLimiter(rate int, now func() time.Time) (*limiter, error) {
	switch {
	case rate == 0:
		return nil, nil
	case rate < 0:
		return nil, errors.New("the rate limit is negative")
	case now == nil:
		return nil, errors.New("a rate limit needs a clock")
	}
	return &limiter{rate: rate, capacity: maxClients, now: now, buckets: map[string]*list.Element{}, recent: list.New()}, nil
}

// Limited reports whether the [House] limits requests by client.
func (h *House) Limited() bool { return h.limit != nil }

// Take takes a token of a client. It returns headers about the limit, and false without a token. Without a
// limit it returns true.
func (h *House) Take(client string) (headers [][2]string, ok bool) {
	if h.limit == nil {
		return nil, true
	}
	remaining, ok := h.limit.takeToken(client)
	return h.limit.limitHeaders(remaining, ok), ok
}

// takeToken takes a token and returns the number of remaining ones. It returns false if there is none to take.
func (l *limiter) takeToken(client string) (remaining float64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.bucketFor(client, now)
	if elapsed := now.Sub(b.used); elapsed > 0 { // negative if the clock was set back
		b.tokens = min(float64(l.rate), b.tokens+float64(l.rate)*elapsed.Seconds()/refillTime.Seconds())
	}
	b.used = now
	if b.tokens < 1 {
		return b.tokens, false
	}
	b.tokens--
	return b.tokens, true
}

// bucketFor returns a client's bucket, perhaps a new one, and drops buckets as described at [limiter].
func (l *limiter) bucketFor(client string, now time.Time) *bucket {
	e, ok := l.buckets[client]
	if ok {
		l.recent.MoveToFront(e)
	} else {
		client = strings.Clone(client) // the server may reuse its buffer
		e = l.recent.PushFront(&bucket{client: client, tokens: float64(l.rate), used: now})
		l.buckets[client] = e
	}
	for last := l.recent.Back(); last != e; last = l.recent.Back() { // e stays
		b := last.Value.(*bucket)
		isFull := now.Sub(b.used) >= refillTime
		if !isFull && l.recent.Len() <= l.capacity {
			break
		}
		l.recent.Remove(last)
		delete(l.buckets, b.client)
	}
	return e.Value.(*bucket)
}

func (l *limiter) countClients() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buckets)
}

// limitHeaders returns the headers for a client with remaining tokens. If ok is false, they include Retry-After.
func (l *limiter) limitHeaders(remaining float64, ok bool) [][2]string {
	headers := append(make([][2]string, 0, 4), // capacity for Retry-After, too
		[2]string{"X-RateLimit-Limit", strconv.Itoa(l.rate)},
		[2]string{"X-RateLimit-Remaining", strconv.Itoa(int(remaining))},
		[2]string{"X-RateLimit-Reset", strconv.Itoa(l.secondsUntil(float64(l.rate) - remaining))},
	)
	if !ok {
		headers = append(headers, [2]string{"Retry-After", strconv.Itoa(max(1, l.secondsUntil(1-remaining)))})
	}
	return headers
}

// secondsUntil returns the seconds to gain tokens, rounded up.
func (l *limiter) secondsUntil(tokens float64) int {
	return int(math.Ceil(tokens * refillTime.Seconds() / float64(l.rate)))
}
