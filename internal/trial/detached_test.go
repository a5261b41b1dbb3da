package trial

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A detached context outlives the deadline of its parent, and ends when that is
// cancelled.
func TestDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		detached, left, end := Detached(parent)
		defer end()
		if left != time.Minute {
			t.Errorf("%v is left of a minute", left)
		}
		time.Sleep(2 * time.Minute)
		if parent.Err() == nil || detached.Err() != nil {
			t.Errorf("after the deadline: %v, %v", parent.Err(), detached.Err())
		}
		parent, cancel = context.WithCancel(t.Context())
		detached, _, end = Detached(parent)
		defer end()
		cancel()
		synctest.Wait()
		if detached.Err() == nil {
			t.Error("it goes on after its parent was cancelled")
		}
	})
}
