// Package nap waits for less than a millisecond. Timers of the Go runtime end up to a
// millisecond late in an idle process, which waits for timers and for the network in
// one system call, with a timeout in whole milliseconds.
package nap

import (
	"os"
	"time"
)

// Timer waits for one goroutine at a time. It uses a timer of the kernel that the runtime can poll like a
// socket, if the system has one. Its waits then end on time and block no thread: a goroutine that sleeps
// in a system call would keep its processor, for a while, from goroutines that wait for the network.
// Otherwise Timer uses [time.Sleep].
type Timer struct {
	file *os.File // the kernel's timer; nil means to use time.Sleep
	buf  [8]byte  // for reads of file, which return a number of expirations
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
