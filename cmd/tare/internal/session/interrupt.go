package session

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"
)

// finishTime limits the rest of a round after SIGTERM. Its sender usually kills the process some seconds
// later.
const finishTime = 3 * time.Second

// interruptState handles Ctrl-C. During a round (one turn of all measured programs), the first one ends the
// session after the round. Any other ends everything.
//
// SIGTERM counts as a Ctrl-C, and as a second one after finishTime.
type interruptState struct {
	Stop <-chan struct{} // closed to request the end after the current round

	mu        sync.Mutex
	measuring bool
	requests  int
	quit      chan struct{}  // closed by Close
	ended     sync.WaitGroup // the goroutine that watches signals
}

// haltOn watches signals until Close. restore stops their delivery, so that the next one ends this process.
// cancel ends all that runs.
func haltOn(signals <-chan os.Signal, restore func(), cancel context.CancelFunc, say func(string)) *interruptState {
	stop := make(chan struct{})
	h := &interruptState{Stop: stop, quit: make(chan struct{})}
	h.ended.Go(func() {
		var timeout <-chan time.Time // nil before SIGTERM
		for {
			var s os.Signal
			select {
			case <-h.quit:
				restore()
				return
			case s = <-signals:
			case <-timeout:
			}
			h.mu.Lock()
			h.requests++
			first, measuring := h.requests == 1, h.measuring
			h.mu.Unlock()
			if first && measuring {
				if s == syscall.SIGTERM {
					timeout = time.After(finishTime)
				}
				say("finishing the round, then judging what there is; Ctrl-C again ends it at once")
				close(stop)
				continue
			}
			say("interrupted: ending what is running")
			restore() // another signal then ends this process
			cancel()
			return
		}
	})
	return h
}

// SetMeasuring records whether a round runs, which the first Ctrl-C lets finish.
func (h *interruptState) SetMeasuring(measuring bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.measuring = measuring
}

// IsRequested reports whether a signal was received.
func (h *interruptState) IsRequested() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests > 0
}

// Close stops watching signals.
func (h *interruptState) Close() {
	close(h.quit)
	h.ended.Wait()
}
