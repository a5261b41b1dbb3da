package server

import "sync/atomic"

const (
	// BudgetBytes limits the bytes of requests in flight that all connections of a program store together. The
	// first freeBytes of each connection do not count. Under a lab, which measures servers, there is no limit.
	BudgetBytes = 32 << 20
	// freeBytes is the number of bytes that each connection may store without using the budget, so that
	// small requests are served even if other connections have used up the budget.
	freeBytes = 4 << 10

	// MaxStreams limits the requests in flight on a connection of HTTP/2.
	MaxStreams = 32
	// maxAllStreams limits the requests in flight on all connections of HTTP/2 together. Once it is reached, a
	// connection can start a request only if it has none in flight.
	maxAllStreams = 1024
)

// budget limits the bytes that the requests of all connections store.
type budget struct {
	max     int64        // most bytes that may be reserved
	used    atomic.Int64 // bytes that are reserved
	streams atomic.Int64 // streams of HTTP/2 that are open
	refused atomic.Int64 // number of requests rejected because of max or maxAllStreams
}

// reserveBytes reserves n bytes. It returns false, and reserves none, if fewer than n are available.
func (b *budget) reserveBytes(n int64) bool {
	if b.used.Add(n) <= b.max {
		return true
	}
	b.used.Add(-n)
	return false
}

// readCounts returns the number of reserved bytes and of rejected requests. Both are 0 if b is nil.
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

// addBytes adds n to the stored bytes. It returns false, and adds nothing, if the budget is used up.
func (s *share) addBytes(n int64) bool {
	before, after := max(0, s.stored-freeBytes), max(0, s.stored+n-freeBytes) // bytes that use the budget
	if after > before && !s.budget.reserveBytes(after-before) {
		return false
	}
	s.stored += n
	return true
}

// removeBytes subtracts n from the stored bytes.
func (s *share) removeBytes(n int64) {
	before, after := max(0, s.stored-freeBytes), max(0, s.stored-n-freeBytes)
	s.budget.used.Add(after - before)
	s.stored -= n
}
