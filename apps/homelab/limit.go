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
	// maxClients bounds the clients with a bucket.
	maxClients = 10_000
)

// limiter gives each client a bucket of tokens, one token per request.
//
// A bucket is full once it has been unused for the time of a refill, and then it can be dropped.
// Buckets are therefore in the order of their last use, and dropped from its end: all that are
// full, and beyond the limit of clients the next one, whose client then starts with a full one.
// Neither ever needs a look at more than the end.
type limiter struct {
	rate int // tokens of a full bucket, and per refill
	most int // largest number of clients
	now  func() time.Time

	mu      sync.Mutex
	buckets map[string]*list.Element // of *bucket
	recent  *list.List               // the most recently used first
}

type bucket struct {
	client string
	tokens float64 // at time at
	at     time.Time
}

// newLimiter returns nil for a rate of 0.
func newLimiter(rate int, now func() time.Time) (*limiter, error) {
	switch {
	case rate == 0:
		return nil, nil
	case rate < 0:
		return nil, errors.New("the rate limit is negative")
	case now == nil:
		return nil, errors.New("a rate limit needs a clock")
	}
	return &limiter{rate: rate, most: maxClients, now: now, buckets: map[string]*list.Element{}, recent: list.New()}, nil
}

// Limited reports whether the rate of clients is limited.
func (h *House) Limited() bool { return h.limit != nil }

// Take takes one of a client's tokens. Without a limit ok is true and there are no headers.
func (h *House) Take(client string) (headers [][2]string, ok bool) {
	if h.limit == nil {
		return nil, true
	}
	left, ok := h.limit.takeToken(client)
	return h.limit.limitHeaders(left, ok), ok
}

// takeToken returns how many tokens are left.
func (l *limiter) takeToken(client string) (left float64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.bucketFor(client, now)
	if elapsed := now.Sub(b.at); elapsed > 0 { // clocks are set back
		b.tokens = min(float64(l.rate), b.tokens+float64(l.rate)*elapsed.Seconds()/refillTime.Seconds())
	}
	b.at = now
	if b.tokens < 1 {
		return b.tokens, false
	}
	b.tokens--
	return b.tokens, true
}

// bucketFor finds or makes a client's bucket, and drops those at the end.
func (l *limiter) bucketFor(client string, now time.Time) *bucket {
	e, ok := l.buckets[client]
	if ok {
		l.recent.MoveToFront(e)
	} else {
		client = strings.Clone(client) // it may be in a buffer of the server
		e = l.recent.PushFront(&bucket{client: client, tokens: float64(l.rate), at: now})
		l.buckets[client] = e
	}
	for last := l.recent.Back(); last != e; last = l.recent.Back() {
		b := last.Value.(*bucket)
		if now.Sub(b.at) < refillTime && l.recent.Len() <= l.most {
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

func (l *limiter) limitHeaders(left float64, ok bool) [][2]string {
	headers := append(make([][2]string, 0, 4),
		[2]string{"X-RateLimit-Limit", strconv.Itoa(l.rate)},
		[2]string{"X-RateLimit-Remaining", strconv.Itoa(int(left))},
		[2]string{"X-RateLimit-Reset", strconv.Itoa(l.secondsUntil(float64(l.rate) - left))},
	)
	if !ok {
		headers = append(headers, [2]string{"Retry-After", strconv.Itoa(max(1, l.secondsUntil(1-left)))})
	}
	return headers
}

// secondsUntil returns how long it takes until there are that many tokens more.
func (l *limiter) secondsUntil(tokens float64) int {
	return int(math.Ceil(tokens * refillTime.Seconds() / float64(l.rate)))
}
