package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
)

// failures: each cause has its own error, and the next call goes on.
func (e facing) failures(t *testing.T) {
	s := e.serve(t, users.Config{FailOne: failsOne})
	c := s.dial(rpc.Pool, 1)
	if err := failures(c, false); err != nil {
		t.Error(err)
	}
	s = e.serve(t, users.Config{})
	c = s.dial(rpc.Pool, 1)
	_, err := c.Get(t.Context(), fails)
	refusedAs(t, "a store that fails", err, users.Unavailable, "the store failed")
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
	const n, most = 4, 2
	if refused, err := refusals(c, n, users.ResourceExhausted); err != nil || refused != n-most {
		t.Errorf("%d of %d refused, %v, want %d", refused, n, err, n-most)
	}
	_, err = c.Get(t.Context(), users.FirstID)
	refusedAs(t, "a call too many", err, users.ResourceExhausted, "too many requests")

	s = e.serve(t, users.Config{})
	p := dialPlain(e.protocol, s.addr, nil, e.http2, time.Minute)
	defer p.Close()
	if err := identifies(p, false); err != nil {
		t.Error(err)
	}
}

// refusedAs checks that err is a refusal with that code and message, which keeps
// what went wrong to itself.
func refusedAs(t *testing.T, what string, err error, code users.Code, message string) {
	t.Helper()
	var e *users.Error
	if !errors.As(err, &e) || e.Code != code || e.Message != message {
		t.Errorf("%s: %v; want %s: %s", what, err, code, message)
	}
}
