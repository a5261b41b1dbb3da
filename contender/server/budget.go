package server

import "sync/atomic"

const (
	// BudgetBytes limits stored bytes of requests of all connections together. The first freeBytes of each do
	// not count. A measured server has no limit.
	BudgetBytes = 32 << 20
	// freeBytes may be stored by each connection without the budget, so that small requests always succeed.
	freeBytes = 4 << 10

	// MaxStreams limits the requests in flight on a connection of HTTP/2.
	MaxStreams = 32
	// maxAllStreams limits HTTP/2 requests in flight together. Beyond it a connection may have only one.
	maxAllStreams = 1024
)

type budget struct {
	max     int64
	used    atomic.Int64
	streams atomic.Int64
	refused atomic.Int64 // requests rejected because of max or maxAllStreams
}

// reserveBytes reserves n bytes or none.
func (b *budget) reserveBytes(n int64) bool {
	if b.used.Add(n) <= b.max {
		return true
	}
	b.used.Add(-n)
	return false
}

// readCounts returns reserved bytes and rejected requests. b may be nil.
func (b *budget) readCounts() (used, refused uint64) {
	if b == nil {
		return 0, 0
	}
	return uint64(b.used.Load()), uint64(b.refused.Load())
}

type share struct {
	budget *budget
	stored int64
}

// addBytes adds n to the stored bytes. It returns false, and adds nothing, if the budget is used up.
func (s *share) addBytes(n int64) bool {
	before, after := max(0, s.stored-freeBytes), max(0, s.stored+n-freeBytes) // bytes within the budget
	if after > before && !s.budget.reserveBytes(after-before) {
		return false
	}
	s.stored += n
	return true
}

func (s *share) removeBytes(n int64) {
	before, after := max(0, s.stored-freeBytes), max(0, s.stored-n-freeBytes)
	s.budget.used.Add(after - before)
	s.stored -= n
}
