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
	// refillTime is the time in which an empty bucket becomes full.
	refillTime = time.Minute
	// maxClients is the largest number of clients with a bucket. It bounds the memory.
	maxClients = 10_000
)

// limiter limits the rate of requests by client. Each client has a bucket of tokens, which is refilled at
// a constant rate. A request takes one token, and is rejected if the bucket has none.
//
// The list of buckets is ordered by their last use, so that the buckets to drop are always at its
// end. A bucket that was not used for refillTime is full again and can be dropped, since a new
// bucket is full, too. If there are more than capacity clients, the least recently used bucket is
// dropped even if it is not full; its client gets a full one with the next request.
type limiter struct {
	rate     int // tokens in a full bucket, and tokens added in refillTime
	capacity int // largest number of buckets
	now      func() time.Time

	mu      sync.Mutex
	buckets map[string]*list.Element // elements of recent, by client
	recent  *list.List               // of *bucket, the most recently used first
}

// bucket has the tokens of one client.
type bucket struct {
	client string
	tokens float64   // number of tokens at the time of the last use
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

// Limited reports whether the service, a [House] with its devices, has a rate limit for clients.
func (h *House) Limited() bool { return h.limit != nil }

// Take takes a token from the bucket of a client. It returns the headers that tell the client its
// limit, and false if the bucket has no token. Without a limit it returns no headers and true.
func (h *House) Take(client string) (headers [][2]string, ok bool) {
	if h.limit == nil {
		return nil, true
	}
	remaining, ok := h.limit.takeToken(client)
	return h.limit.limitHeaders(remaining, ok), ok
}

// takeToken takes a token and returns the number of remaining tokens. It returns false if there is
// less than one token.
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

// bucketFor returns the bucket of a client, a new one if the client has none. It drops buckets at the
// end of the list as described at [limiter].
func (l *limiter) bucketFor(client string, now time.Time) *bucket {
	e, ok := l.buckets[client]
	if ok {
		l.recent.MoveToFront(e)
	} else {
		client = strings.Clone(client) // it may point into a buffer that the server reuses
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

// countClients returns the number of clients with a bucket, for the metrics.
func (l *limiter) countClients() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buckets)
}

// limitHeaders returns the headers of a response to a client with a number of remaining tokens. ok
// is the result of takeToken: if it is false, the headers include Retry-After.
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

// secondsUntil returns the time in which a bucket gains a number of tokens, in seconds, rounded up.
func (l *limiter) secondsUntil(tokens float64) int {
	return int(math.Ceil(tokens * refillTime.Seconds() / float64(l.rate)))
}
