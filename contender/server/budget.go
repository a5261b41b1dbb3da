package server

import "sync/atomic"

const (
	// BudgetBytes is how many bytes of requests in flight all connections of a
	// program may store, alone, and how many more than freeBytes each.
	BudgetBytes = 32 << 20
	// freeBytes is how many bytes each connection may store beside that, so that
	// small requests are served while others have used the budget up.
	freeBytes = 4 << 10

	// MaxStreams is how many requests a connection of HTTP/2 may have in flight.
	MaxStreams = 32
	// maxAllStreams is how many requests all connections of HTTP/2 may have in
	// flight. Beyond that each connection may have one.
	maxAllStreams = 1024
)

// budget bounds what the requests of all connections store. A nil budget counts
// nothing.
type budget struct {
	max           int64
	used, streams atomic.Int64
	refused       atomic.Int64
}

// take reserves n bytes, and reports whether that many were left.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) <= b.max {
		return true
	}
	b.used.Add(-n)
	return false
}

// counts returns the bytes that are reserved, and how often there were too few.
func (b *budget) counts() (used, refused uint64) {
	if b == nil {
		return 0, 0
	}
	return uint64(b.used.Load()), uint64(b.refused.Load())
}

// share is what one connection has reserved of a budget.
type share struct {
	budget *budget
	stored int64 // bytes that the connection stores
}

// grow counts n more stored bytes, and reports whether the budget had them.
func (s *share) grow(n int64) bool {
	before, after := max(0, s.stored-freeBytes), max(0, s.stored+n-freeBytes)
	if after > before && !s.budget.take(after-before) {
		return false
	}
	s.stored += n
	return true
}

// shrink counts n stored bytes less.
func (s *share) shrink(n int64) {
	before, after := max(0, s.stored-freeBytes), max(0, s.stored-n-freeBytes)
	s.budget.used.Add(after - before)
	s.stored -= n
}
