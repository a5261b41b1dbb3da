package session

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"
)

// finishing is how long SIGTERM lets a round take to its end. Who sends it kills the
// process some seconds later.
const finishing = 3 * time.Second

// halt turns the first Ctrl-C into a request to finish the round, and the
// second into the end of everything. While nothing is being measured there is
// nothing to finish, and the first one ends it. SIGTERM is a Ctrl-C, and another one
// a little later.
type halt struct {
	Stop <-chan struct{} // closed: finish the round

	mu        sync.Mutex
	measuring bool
	asked     int
	quit      chan struct{}
	ended     sync.WaitGroup
}

// haltOn watches signals until Close. say tells the user what will happen.
func haltOn(signals <-chan os.Signal, restore func(), cancel context.CancelFunc, say func(string)) *halt {
	stop := make(chan struct{})
	h := &halt{Stop: stop, quit: make(chan struct{})}
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
			h.asked++
			first, measuring := h.asked == 1, h.measuring
			h.mu.Unlock()
			if first && measuring {
				if s == syscall.SIGTERM {
					late = time.After(finishing)
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

// Measuring says whether there is a round to finish.
func (h *halt) Measuring(yes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.measuring = yes
}

// Asked reports whether the user wants to stop.
func (h *halt) Asked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked > 0
}

// Close stops watching.
func (h *halt) Close() {
	close(h.quit)
	h.ended.Wait()
}
