package session

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"
)

// finishTime bounds the rest of a round after SIGTERM: its sender kills the process some
// seconds later.
const finishTime = 3 * time.Second

// interruptState turns the first Ctrl-C into a request to finish the round, and the second into the
// end of everything. While nothing is being measured the first one ends it. SIGTERM counts as a
// Ctrl-C, and as another one a little later.
type interruptState struct {
	Stop <-chan struct{} // closed: finish the round

	mu        sync.Mutex
	measuring bool
	requests  int
	quit      chan struct{}
	ended     sync.WaitGroup
}

// haltOn watches signals until Close. It reports what will happen by say.
func haltOn(signals <-chan os.Signal, restore func(), cancel context.CancelFunc, say func(string)) *interruptState {
	stop := make(chan struct{})
	h := &interruptState{Stop: stop, quit: make(chan struct{})}
	h.ended.Go(func() {
		var late <-chan time.Time
		for {
			var s os.Signal
			select {
			case <-h.quit:
				restore()
				return
			case s = <-signals:
			case <-late:
			}
			h.mu.Lock()
			h.requests++
			first, measuring := h.requests == 1, h.measuring
			h.mu.Unlock()
			if first && measuring {
				if s == syscall.SIGTERM {
					late = time.After(finishTime)
				}
				say("finishing the round, then judging what there is; Ctrl-C again ends it at once")
				close(stop)
				continue
			}
			say("interrupted: ending what is running")
			restore() // another one ends this process itself; the guardian cleans up
			cancel()
			return
		}
	})
	return h
}

// Measuring sets whether there is a round to finish.
func (h *interruptState) Measuring(yes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.measuring = yes
}

// Asked reports whether the user wants to stop.
func (h *interruptState) Asked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests > 0
}

// Close stops watching.
func (h *interruptState) Close() {
	close(h.quit)
	h.ended.Wait()
}
