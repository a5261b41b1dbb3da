package server

import "sync/atomic"

const (
	// BudgetBytes limits the bytes of requests in flight that all connections of a program store without a
	// lab, beyond freeBytes each.
	BudgetBytes = 32 << 20
	// freeBytes is the number of bytes each connection may store in addition, so that small requests are
	// served while others have used the budget up.
	freeBytes = 4 << 10

	// MaxStreams limits the requests in flight on a connection of HTTP/2.
	MaxStreams = 32
	// maxAllStreams limits the requests in flight on all connections of HTTP/2. Beyond that each connection
	// may have one.
	maxAllStreams = 1024
)

// budget limits the bytes that the requests of all connections store. A nil budget counts nothing.
type budget struct {
	max           int64
	used, streams atomic.Int64
	refused       atomic.Int64
}

// reserveBytes reserves n bytes, and reports whether that many were left.
func (b *budget) reserveBytes(n int64) bool {
	if b.used.Add(n) <= b.max {
		return true
	}
	b.used.Add(-n)
	return false
}

// readCounts returns the number of reserved bytes and of rejected reservations.
func (b *budget) readCounts() (used, refused uint64) {
	if b == nil {
		return 0, 0
	}
	return uint64(b.used.Load()), uint64(b.refused.Load())
}

// share is one connection's part of a budget.
type share struct {
	budget *budget
	stored int64 // bytes that the connection stores
}

// addBytes counts n more stored bytes, and reports whether the budget had them.
func (s *share) addBytes(n int64) bool {
	before, after := max(0, s.stored-freeBytes), max(0, s.stored+n-freeBytes)
	if after > before && !s.budget.reserveBytes(after-before) {
		return false
	}
	s.stored += n
	return true
}

// removeBytes counts n stored bytes less.
func (s *share) removeBytes(n int64) {
	before, after := max(0, s.stored-freeBytes), max(0, s.stored-n-freeBytes)
	s.budget.used.Add(after - before)
	s.stored -= n
}
