package contender

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// meter reads the number of completed garbage collection cycles. It measures the cost of such
// a reading to decide how often to read the cycles and the clock.
type meter struct {
	cycles   func() int64  // returns the number of completed collection cycles; does not allocate
	interval time.Duration // time between two readings
	maxYield time.Duration // if a yield takes longer, another goroutine has run
}

const (
	// minInterval is the shortest time between two readings.
	minInterval = 50 * time.Microsecond
	// readShare is the ratio of the time between two readings to the time of a reading, so that readings
	// cost at most 1/readShare = 0.25 %.
	readShare = 400
)

// newMeter returns a meter. A reading takes about 0.12 µs if the clock needs no system call.
func newMeter() *meter {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	m := &meter{cycles: func() int64 {
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}}
	m.cycles() // the first reading sets the package up
	m.interval = max(minInterval, readShare*minCost(func() {
		m.cycles()
		_ = time.Now()
	}))
	const yieldTolerance = 4 // a multiple of the time of a yield without another goroutine
	m.maxYield = yieldTolerance * minCost(runtime.Gosched)
	return m
}

// minCost measures the time of a call of f. It returns the least of a few means, because disturbances only
// increase a mean.
func minCost(f func()) time.Duration {
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
	// idleYields is the number of quick yields in a row after which no other goroutine wants to run.
	idleYields = 8
	// maxYields limits the number of yields if another goroutine always wants to run.
	maxYields = 4096
)

// awaitSweep yields until the runtime's background sweeper has finished the last collection. The runtime
// does not report that. But the sweeper, another goroutine, works in small batches and yields after each:
// if our yields return immediately, the sweeper has nothing to do.
func (m *meter) awaitSweep() {
	last, idle := time.Now(), 0
	for range maxYields {
		runtime.Gosched()
		now := time.Now()
		if idle++; now.Sub(last) > m.maxYield {
			idle = 0
		}
		if idle == idleYields {
			return
		}
		last = now
	}
}

// maxBatch limits the operations of a batch, for operations that take almost no time.
const maxBatch = 1 << 20

// batchSize returns the number of operations to run before the next reading, if each takes pace ns. It
// returns 1 if pace is 0, which means unknown.
func (m *meter) batchSize(pace float64) int64 {
	if pace <= 0 {
		return 1
	}
	return int64(min(max(1, float64(m.interval)/pace), maxBatch))
}
