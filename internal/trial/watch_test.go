//go:build unix

package trial

import (
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// A session ends its request's context as soon as the reply is there. The
// watch, which may be looking at that very moment, must not take that for a
// cancellation of the trial.
func TestWatchDoesNotTakeAnAnsweredRequestForACancelledOne(t *testing.T) {
	s := greeted(t, "good", nil)
	p := s.Conn.(*Process)
	stop := make(chan struct{})
	var looking sync.WaitGroup
	for range 2 {
		looking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					p.inspectOnce(time.Now(), false)
				}
			}
		})
	}
	defer looking.Wait()
	defer close(stop)
	for i := range 600 {
		if _, err := s.Slice(t.Context(), wire.Request{On: "w", Until: "ops", Ops: 1, CapNS: 1e9}, time.Millisecond); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
}
