//go:build linux && (amd64 || arm64)

package load

// timer compensates for timers that expire late. An idle virtual processor is given
// back to the host and takes up to 100 µs to wake up; every request of an open loop
// would be sent that late. So waits are shortened by their median delay, and the
// thread polls for the rest of the time.
type timer struct{ early int64 } // ns

const (
	mostEarly = 200_000 // ns: what is later than that is the machine's other work
	earlyStep = 1_000   // ns: by which one wait moves it, towards the median
)

// duration is how long to wait for what is to happen in d ns.
func (t *timer) duration(d int64) int64 {
	if d <= 0 {
		return d
	}
	return max(d-t.early, 0)
}

// ended records by how many ns a wait ended late.
func (t *timer) ended(late int64) {
	if late > t.early {
		t.early = min(t.early+earlyStep, mostEarly)
	} else {
		t.early = max(t.early-earlyStep, 0)
	}
}
