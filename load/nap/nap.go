// Package nap waits for times that are less than a millisecond away. Timers of
// the Go runtime end up to one late where nothing else happens: it waits for
// them and for the network at once, and rounds that wait to whole milliseconds.
package nap

import (
	"os"
	"time"
)

// Timer waits for one goroutine at a time. Where the system has a clock that can
// be waited for like a socket, its waits end on time, and neither a thread nor a
// processor is held meanwhile: with one processor, a thread asleep in the kernel
// keeps those that wait for the network from it for a while. Elsewhere it is
// [time.Sleep].
type Timer struct {
	file *os.File // nil: time.Sleep
	buf  [8]byte  // the number of times that it has ended
}

// Sleep waits for d; not at all where that is not above zero.
func (t *Timer) Sleep(d time.Duration) {
	if d > 0 && !t.wait(d) {
		time.Sleep(d)
	}
}

// Close gives up the clock. Waits after it are those of [time.Sleep].
func (t *Timer) Close() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}
