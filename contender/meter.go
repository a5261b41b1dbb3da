package contender

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// meter reads the number of completed collection cycles and decides how often
// that and the clock are looked at.
type meter struct {
	cycles func() int64  // collection cycles completed; does not allocate
	every  time.Duration // between two looks
	quick  time.Duration // a yield that takes longer let something else run
}

const (
	// leastEvery is the shortest time between two looks.
	leastEvery = 50 * time.Microsecond
	// lookShare is how many times longer than a look the time between two
	// looks is, so that looking costs at most 1/lookShare = 0.25 %.
	lookShare = 400
)

// newMeter measures what a look costs here; it is about 0.12 µs where the
// clock is read without a system call.
func newMeter() *meter {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	m := &meter{cycles: func() int64 {
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}}
	m.cycles() // the first reading sets the package up
	m.every = max(leastEvery, lookShare*least(func() {
		m.cycles()
		_ = time.Now()
	}))
	m.quick = 4 * least(runtime.Gosched)
	return m
}

// least measures what f costs: the least of a few means, as whatever disturbs
// a mean only adds to it.
func least(f func()) time.Duration {
	const means, calls = 5, 32
	cost := time.Hour
	for range means {
		start := time.Now()
		for range calls {
			f()
		}
		cost = min(cost, time.Since(start)/calls)
	}
	return cost
}

const (
	// idleYields in a row are taken to mean that nobody else wants to run.
	idleYields = 8
	// mostYields bounds the yields where somebody always does.
	mostYields = 4096
)

// sweep yields until the runtime's background sweeper is done with the last
// collection, which nothing reports: the sweeper works in small batches and
// yields after each, so that a yield which returns at once means it has
// nothing to do.
func (m *meter) sweep() {
	last, idle := time.Now(), 0
	for range mostYields {
		runtime.Gosched()
		now := time.Now()
		if idle++; now.Sub(last) > m.quick {
			idle = 0
		}
		if idle == idleYields {
			return
		}
		last = now
	}
}

// maxBatch keeps an operation that takes no time at all from running forever.
const maxBatch = 1 << 20

// batch is how many operations to do before looking again, at pace ns each.
func (m *meter) batch(pace float64) int64 {
	if pace <= 0 {
		return 1
	}
	return int64(min(max(1, float64(m.every)/pace), maxBatch))
}
