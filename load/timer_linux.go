//go:build linux && (amd64 || arm64)

package load

// timer shortens the waits of a thread, because waits end late. An idle virtual
// processor is given back to the host and takes up to 100 µs to wake up; every request
// of an open loop would be sent that late. So a wait is shortened by the median delay of
// earlier waits, and the thread polls for the rest of the time.
type timer struct {
	early int64 // time in ns by which waits are shortened
}

const (
	maxEarly  = 200_000 // ns; a longer delay is caused by other work of the machine
	earlyStep = 1_000   // ns by which each wait moves timer.early towards the median
)

// waitTime returns how long to wait for an event that is due in d ns, in ns.
func (t *timer) waitTime(d int64) int64 {
	if d <= 0 {
		return d
	}
	return max(d-t.early, 0)
}

// adapt moves t.early a small step towards late, the delay of the last wait in ns. As the steps have the same length
// in both directions, t.early approaches the median of the delays.
func (t *timer) adapt(late int64) {
	if late > t.early {
		t.early = min(t.early+earlyStep, maxEarly)
	} else {
		t.early = max(t.early-earlyStep, 0)
	}
}
