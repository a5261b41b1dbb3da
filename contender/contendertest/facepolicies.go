package contendertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
)

// policies: connections are kept or not, and of many callers of one e-mail one
// wins.
func (e facing) policies(t *testing.T) {
	s := e.serve(t, users.Config{})
	const callers = 20
	for _, policy := range []string{rpc.Pool, rpc.One, rpc.Fresh} {
		if policy == rpc.One && !e.http2 {
			continue
		}
		c := s.dial(policy, callers)
		var won, lost atomic.Int64
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				_, err := c.Create(t.Context(), users.Draft{Name: "Somebody", Email: policy + "@example.com"})
				var refused *users.Error
				switch {
				case err == nil:
					won.Add(1)
				case errors.As(err, &refused) && refused.Code == users.AlreadyExists:
					lost.Add(1)
				default:
					t.Errorf("%s: %v", policy, err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 || lost.Load() != callers-1 {
			t.Errorf("%s: %d won, %d lost", policy, won.Load(), lost.Load())
		}
	}
}

// failures: what goes wrong is told apart, and the next call goes on.
func (e facing) failures(t *testing.T) {
	s := e.serve(t, users.Config{FailOne: 3})
	c := s.dial(rpc.Pool, 1)
	for i := 1; i <= 9; i++ {
		u, err := c.Get(t.Context(), users.FirstID)
		switch {
		case i%3 == 0:
			refusedAs(t, fmt.Sprintf("call %d", i), err, users.Unavailable, "")
		case err != nil || u != users.Seeded(0):
			t.Errorf("call %d: %+v, %v", i, u, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if u, err := s.givesUp(ctx, c); err == nil {
		t.Errorf("a call without an answer: %+v", u)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		if u, err := c.Get(t.Context(), users.FirstID); err == nil && u == users.Seeded(0) {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("after a call that was given up: %+v, %v", u, err)
		}
	}
}

// givesUp makes a call that has no answer until its caller goes.
func (s *served) givesUp(ctx context.Context, c rpc.Client) (users.User, error) {
	if slices.Contains(s.lacks, NoCancel) {
		return users.User{}, context.Canceled
	}
	return c.Get(ctx, waits)
}

// end: a call that is under way is answered, and then nobody is any more.
func (e facing) end(t *testing.T) {
	s := e.serve(t, users.Config{})
	c := s.dial(rpc.Pool, 1)
	if _, err := c.Get(t.Context(), users.FirstID); err != nil {
		t.Fatal(err)
	}
	s.end()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := c.Get(ctx, users.FirstID)
	var refused *users.Error
	if err == nil || errors.As(err, &refused) {
		t.Errorf("after the end: %v", err)
	}
}

// layers: recovery, a rate limit and the log.
func (e facing) layers(t *testing.T) {
	s := e.serve(t, users.Config{})
	c := s.dial(rpc.Pool, 1)
	_, err := c.Get(t.Context(), panics)
	refusedAs(t, "a panic", err, users.Internal, "the service failed")
	if u, err := c.Get(t.Context(), users.FirstID); err != nil || u != users.Seeded(0) {
		t.Errorf("after a panic: %+v, %v", u, err)
	}
	s.end()
	if lines := strings.Count(s.log.String(), "\n"); lines != 2 || !strings.Contains(s.log.String(), "sers") {
		t.Errorf("%d lines in the log: %s", lines, s.log)
	}

	s = e.serve(t, users.Config{Limit: 2, Now: func() time.Time { return time.Unix(0, 0) }})
	c = s.dial(rpc.Pool, 1)
	for i := range 4 {
		_, err := c.Get(t.Context(), users.FirstID)
		if i < 2 && err != nil {
			t.Errorf("call %d: %v", i, err)
		} else if i >= 2 {
			refusedAs(t, fmt.Sprintf("call %d", i), err, users.ResourceExhausted, "too many requests")
		}
	}
}
