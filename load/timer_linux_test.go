//go:build linux && (amd64 || arm64)

package load

import "testing"

// TestTimer checks that waits are shortened by their median delay, and by no more.
func TestTimer(t *testing.T) {
	var a timer
	if a.waitTime(500) != 500 || a.waitTime(-1) != -1 {
		t.Errorf("a new one waits %d ns of 500", a.waitTime(500))
	}
	late := []int64{90_000, 5_000_000, 100_000, 95_000, 110_000} // one of five is the machine's other work
	for i := range 2000 {
		a.adapt(late[i%len(late)])
	}
	if a.early < 95_000 || a.early > 105_000 {
		t.Errorf("%d ns early, where half of the waits end 100 µs late", a.early)
	}
	if a.waitTime(1_000_000) != 1_000_000-a.early || a.waitTime(50_000) != 0 {
		t.Errorf("%d and %d ns", a.waitTime(1_000_000), a.waitTime(50_000))
	}
	for range 2000 {
		a.adapt(3_000_000)
	}
	if a.early != maxEarly {
		t.Errorf("%d ns early on a busy machine, want at most %d", a.early, maxEarly)
	}
	for range 2000 {
		a.adapt(-20_000) // a wait that was interrupted, or rounded down
	}
	if a.early != 0 {
		t.Errorf("%d ns early, where none ends late", a.early)
	}
}
