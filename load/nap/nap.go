// Package nap waits for less than a millisecond. Timers of the Go runtime end up to a millisecond late in
// an idle process: it waits in whole milliseconds.
package nap

import (
	"os"
	"time"
)

// Timer waits for one goroutine at a time. If possible it uses a timer of the kernel that the runtime polls
// like a socket. Then waits end on time and block no thread. Otherwise it uses [time.Sleep]. A sleep in a
// system call would not do: it keeps a processor from other goroutines for a while.
type Timer struct {
	file *os.File // kernel timer; nil means time.Sleep
	buf  [8]byte  // for reads of file, which return a number of expirations
}

// Sleep waits for d. It returns immediately if d is not above zero.
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
