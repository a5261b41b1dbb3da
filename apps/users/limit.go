package users

import (
	"sync/atomic"
	"time"
)

// limiter is a token bucket, one token per request. A full bucket has the tokens of a second. It stores the
// time at which the bucket will be full, so that one atomic number is enough. See the generic cell rate
// algorithm, ITU-T I.371, annex A.
type limiter struct {
	now      func() time.Time
	start    time.Time
	perToken int64        // ns per token, rounded up; 0 means no limit
	fillTime int64        // ns to fill an empty bucket
	full     atomic.Int64 // when the bucket is full, in ns since start
}

// setLimit sets requests per second; 0 or less means no limit.
func (l *limiter) setLimit(perSecond int, now func() time.Time) {
	if perSecond <= 0 {
		return
	}
	l.now, l.start = now, now()
	l.perToken = (int64(time.Second) + int64(perSecond) - 1) / int64(perSecond)
	l.fillTime = l.perToken * int64(perSecond)
}

// takeOne takes a token. It returns false if the bucket is empty: it would then be full after now+fillTime.
func (l *limiter) takeOne() bool {
	if l.perToken == 0 {
		return true
	}
	now := int64(l.now().Sub(l.start))
	for {
		full := l.full.Load()
		empty := now + l.fillTime
		current := min(max(full, now), empty) // full is after empty if the clock was set back
		next := current + l.perToken
		ok := next <= empty
		if !ok {
			next = current
		}
		if next == full || l.full.CompareAndSwap(full, next) {
			return ok
		}
	}
}

// Allow takes a token for a request. After false, the transport must respond with [Limited].
func (s *Service) Allow() bool {
	ok := s.limit.takeOne()
	if !ok {
		s.countRefusal(ResourceExhausted)
	}
	return ok
}

// Limited reports whether there is a rate limit.
func (s *Service) Limited() bool { return s.limit.perToken > 0 }
