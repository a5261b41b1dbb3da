package commit

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// Batches that come while one is written are written together.
func TestBatchesThatWaitAreWrittenTogether(t *testing.T) {
	var sizes []int
	begun, hold := make(chan struct{}, 3), make(chan struct{})
	q := New(func(list []*Batch) {
		sizes = append(sizes, len(list))
		begun <- struct{}{}
		<-hold
	})
	var wg sync.WaitGroup
	keep := func() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := q.Keep(context.Background(), &Batch{}); err != nil {
				t.Error(err)
			}
		}()
	}
	keep()
	<-begun
	hold <- struct{}{} // the first is written alone
	keep()
	<-begun
	for range 20 {
		keep()
	}
	for q.Waiting() < 20 {
		time.Sleep(time.Millisecond)
	}
	close(hold)
	wg.Wait()
	if len(sizes) != 3 || sizes[2] != 20 {
		t.Errorf("written %v, want 1, 1 and 20", sizes)
	}
}

// A caller that gives up while it waits leaves nothing; one that is being written gets its result.
func TestEndedContext(t *testing.T) {
	hold := make(chan struct{})
	var written int
	q := New(func(list []*Batch) {
		written += len(list)
		<-hold
	})
	ctx, cancel := context.WithCancel(context.Background())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- q.Keep(ctx, &Batch{}) }()
	for len(q.writing) == 0 || q.Waiting() > 0 {
		time.Sleep(time.Millisecond)
	}
	go func() { second <- q.Keep(ctx, &Batch{}) }()
	for q.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("one that waited: %v", err)
	}
	close(hold)
	if err := <-first; err != nil {
		t.Errorf("one that was written: %v", err)
	}
	if written != 1 {
		t.Errorf("%d were written", written)
	}
}

// A batch whose caller has not come to wait for its turn yet is written too, and none after Close.
func TestCloseWritesWhatHasJoined(t *testing.T) {
	written := 0
	q := New(func(list []*Batch) { written += len(list) })
	g, err := q.joinGroup(&Batch{})
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("the last")
	if err := q.Close(func() error { return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	select {
	case <-g.done:
	default:
		t.Fatal("it still waits")
	}
	if err := q.Keep(context.Background(), &Batch{}); !errors.Is(err, ErrClosed) || written != 1 {
		t.Errorf("after Close: %v, %d written", err, written)
	}
}
