//go:build linux && (amd64 || arm64)

package load

// timer shortens the waits of a thread, because waits end late. An idle virtual processor takes up to 100
// µs to wake up, and would delay every request of an open loop. So a wait is shortened by the median delay
// of earlier waits, and the thread polls for the rest.
type timer struct {
	early int64 // time in ns by which waits are shortened
}

const (
	maxEarly  = 200_000 // ns; a longer delay has other causes
	earlyStep = 1_000   // ns that each wait moves timer.early
)

// waitTime returns how long to wait for an event that is due in d ns, in ns.
func (t *timer) waitTime(d int64) int64 {
	if d <= 0 {
		return d
	}
	return max(d-t.early, 0)
}

// adapt moves t.early one step towards late, the delay of the last wait in ns. Steps are equal in both
// directions, so t.early approaches the median.
func (t *timer) adapt(late int64) {
	if late > t.early {
		t.early = min(t.early+earlyStep, maxEarly)
	} else {
		t.early = max(t.early-earlyStep, 0)
	}
}
