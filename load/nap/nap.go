// Package nap waits for times that are less than a millisecond away. Timers of
// the Go runtime end up to one late in an idle process: it waits for
// them and for the network together, and rounds that wait to milliseconds.
package nap

import (
	"os"
	"time"
)

// Timer waits for one goroutine at a time. If the system has a timer that can be polled like a socket, its
// waits end on time, and block neither a thread nor a processor: with one processor, a thread that sleeps in
// the kernel keeps it from goroutines that wait for the network for a while. Otherwise it uses [time.Sleep].
type Timer struct {
	file *os.File // nil: use time.Sleep
	buf  [8]byte  // number of expirations
}

// Sleep waits for d, or not at all if d is not above zero.
func (t *Timer) Sleep(d time.Duration) {
	if d > 0 && !t.waitFor(d) {
		time.Sleep(d)
	}
}

// Close releases the timer. Later waits use [time.Sleep].
func (t *Timer) Close() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}
