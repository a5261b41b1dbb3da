package users

import (
	"sync/atomic"
	"time"
)

// limiter is a bucket for the requests of one second that fills up at the same rate. It is stored
// as the time at which it will be full: see the generic cell rate algorithm, ITU-T I.371, annex A.
type limiter struct {
	now       func() time.Time
	start     time.Time
	each      int64        // ns that one request takes to come back, rounded up; 0 if there is no limit
	fullAfter int64        // ns after which an empty bucket is full
	full      atomic.Int64 // ns since start
}

func (l *limiter) setLimit(perSecond int, now func() time.Time) {
	if perSecond <= 0 {
		return
	}
	l.now, l.start = now, now()
	l.each = (int64(time.Second) + int64(perSecond) - 1) / int64(perSecond)
	l.fullAfter = l.each * int64(perSecond)
}

func (l *limiter) takeOne() bool {
	if l.each == 0 {
		return true
	}
	now := int64(l.now().Sub(l.start))
	for {
		full := l.full.Load()
		from := min(max(full, now), now+l.fullAfter) // clocks are set back
		to, ok := from+l.each, from+l.each <= now+l.fullAfter
		if !ok {
			to = from
		}
		if to == full || l.full.CompareAndSwap(full, to) {
			return ok
		}
	}
}

// Allow takes one request off the rate limit; if it returns false the response is [Limited].
func (s *Service) Allow() bool {
	ok := s.limit.takeOne()
	if !ok {
		s.countRefusal(ResourceExhausted)
	}
	return ok
}

// Limited reports whether there is a rate limit.
func (s *Service) Limited() bool { return s.limit.each > 0 }
