package contender

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// meter counts garbage collection cycles. It measures its own cost to decide how often to read.
type meter struct {
	cycles   func() int64 // completed cycles; does not allocate
	interval time.Duration
	maxYield time.Duration // after a longer yield, another goroutine has run
}

const (
	minInterval = 50 * time.Microsecond
	// readShare limits the cost of readings to 1/readShare of the time, 0.25 %.
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
	const yieldTolerance = 4 // a multiple of an undisturbed yield
	m.maxYield = yieldTolerance * minCost(runtime.Gosched)
	return m
}

// minCost measures the time of a call of f. It returns the least of a few means, because disturbances only add.
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
	// maxYields limits the yields if another goroutine always wants to run.
	maxYields = 4096
)

// awaitSweep waits for the background sweeper, which the runtime does not report. But the sweeper yields after
// small batches. If our yields return immediately, it is idle.
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

// maxBatch limits the operations of a batch. It matters if they take almost no time.
const maxBatch = 1 << 20

// batchSize returns the number of operations before the next reading. pace is the time of one in ns, or 0 if
// unknown.
func (m *meter) batchSize(pace float64) int64 {
	if pace <= 0 {
		return 1
	}
	return int64(min(max(1, float64(m.interval)/pace), maxBatch))
}
