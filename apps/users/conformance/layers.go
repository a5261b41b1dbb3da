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

// A store that fails for some ids (failID, waitID and panicID) shows how a transport of app users handles
// failures. Middleware is tested, too.

// testFailures checks each kind of failure, and the next call.
func (e transportTest) testFailures(t *testing.T) {
	s := e.startServer(t, users.Config{FailOne: failsOne})
	c := s.dialClient(rpc.Pool, 1)
	if err := checkErrors(c, false); err != nil {
		t.Error(err)
	}
	s = e.startServer(t, users.Config{})
	c = s.dialClient(rpc.Pool, 1)
	_, err := c.Get(t.Context(), failID)
	wantRefusal(t, "a store that fails", err, users.Unavailable, "the store failed")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if u, err := s.callUntilCancel(ctx, c); err == nil {
		t.Errorf("a call without an answer: %+v", u)
	}
	// The connection of the cancelled call may need time.
	deadline := time.Now().Add(time.Minute)
	for {
		if u, err := c.Get(t.Context(), users.FirstID); err == nil && u == users.Seeded(0) {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("after a call that was given up: %+v, %v", u, err)
		}
	}
}

// callUntilCancel makes a call that waits until ctx ends. Some transports do not cancel calls.
func (s *runningServer) callUntilCancel(ctx context.Context, c rpc.Client) (users.User, error) {
	if slices.Contains(s.lacks, NoCancel) {
		return users.User{}, context.Canceled
	}
	return c.Get(ctx, waitID)
}

// testEnd checks that no call gets a response after the server was stopped.
func (e transportTest) testEnd(t *testing.T) {
	s := e.startServer(t, users.Config{})
	c := s.dialClient(rpc.Pool, 1)
	if _, err := c.Get(t.Context(), users.FirstID); err != nil {
		t.Fatal(err)
	}
	s.end()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := c.Get(ctx, users.FirstID)
	var refusal *users.Error
	if err == nil || errors.As(err, &refusal) {
		t.Errorf("after the end: %v", err)
	}
}

func (e transportTest) testLayers(t *testing.T) {
	s := e.startServer(t, users.Config{})
	c := s.dialClient(rpc.Pool, 1)
	_, err := c.Get(t.Context(), panicID)
	wantRefusal(t, "a panic", err, users.Internal, "the service failed")
	if u, err := c.Get(t.Context(), users.FirstID); err != nil || u != users.Seeded(0) {
		t.Errorf("after a panic: %+v, %v", u, err)
	}
	s.end()
	// A line has the call's path: /v1/users/… or …UserService/…
	if lines := strings.Count(s.log.String(), "\n"); lines != 2 || !strings.Contains(s.log.String(), "sers") {
		t.Errorf("%d lines in the log: %s", lines, s.log)
	}

	const calls, limit = 4, 2
	s = e.startServer(t, users.Config{Limit: limit, Now: func() time.Time { return time.Unix(0, 0) }}) // time stands still
	c = s.dialClient(rpc.Pool, 1)
	if rejected, err := countRejected(c, calls, users.ResourceExhausted); err != nil || rejected != calls-limit {
		t.Errorf("%d of %d refused, %v, want %d", rejected, calls, err, calls-limit)
	}
	_, err = c.Get(t.Context(), users.FirstID)
	wantRefusal(t, "a call too many", err, users.ResourceExhausted, "too many requests")

	s = e.startServer(t, users.Config{})
	p := dialPlain(e.protocol, s.addr, nil, e.http2, time.Minute)
	defer p.Close()
	if err := checkRequestIDs(p, false); err != nil {
		t.Error(err)
	}
}

func wantRefusal(t *testing.T, what string, err error, code users.Code, message string) {
	t.Helper()
	var e *users.Error
	if !errors.As(err, &e) || e.Code != code || e.Message != message {
		t.Errorf("%s: %v; want %s: %s", what, err, code, message)
	}
}
