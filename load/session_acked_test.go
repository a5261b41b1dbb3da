package load

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/loadtest"
)

// batches returns requests with 1, 10 and 100 items that expect this status.
func batches(status int) []Request {
	var list []Request
	for _, n := range []int{1, 10, 100} {
		list = append(list, Request{Method: "POST", Path: "/", Body: []byte("batch"), Status: status, Items: n})
	}
	return list
}

// itemsOf returns the number of items in this number of requests of batches, sent one after the
// other.
func itemsOf(requests int64) int64 {
	sum := requests / 3 * 111
	for i := range requests % 3 {
		sum += []int64{1, 10, 100}[i]
	}
	return sum
}

// The items of all requests with a correct response are acknowledged, lead-ins included, and none
// twice.
func TestAcked(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		defer s.Close()
		session := openTo(t, w, s, Options{Requests: batches(200), Connections: 1})
		defer session.Close()
		for _, leg := range []Leg{{Lead: 7, Ops: 20}, {Ops: 5}, {Lead: 3, Duration: 30 * time.Millisecond, Profile: Constant{PerSecond: 500}}} {
			r, err := session.Run(context.Background(), leg)
			assert.NoError(t, "run", err)
			assert.Equal(t, "errors", len(r.Errors), 0)
			assert.Equal(t, "acknowledged", session.Totals().Acked, itemsOf(s.Requests()))
		}
	})
}

// The items of requests with another status, without a response, or with a wrong response are not
// acknowledged.
func TestNotAcked(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for servers that are silent")
	}
	everyWay(t, func(t *testing.T, w way) {
		for _, c := range []struct {
			behaviour loadtest.Behaviour
			status    int
			class     Class
			first     string // error; empty: not looked at
			grpc      string // the same in gRPC
			all       bool   // is acknowledged
		}{
			{loadtest.Status, 404, "", "", "", true},
			{loadtest.Status, 200, ErrStatus, "status: 404 instead of 200", "status: grpc-status 5 (NOT_FOUND) instead of 200", false},
			{loadtest.Status, 0, ErrStatus, "status: 404", "status: grpc-status 5 (NOT_FOUND)", false},
			{loadtest.Plain, 404, ErrStatus, "status: 200 instead of 404", "status: grpc-status 0 (OK) instead of 404", false},
			{loadtest.Plain, 0, "", "", "", true},
			{loadtest.NoContent, 200, ErrStatus, "status: 204 instead of 200", "status: 204 instead of 200", false},
			{loadtest.Reset, 200, ErrReset, "", "", false},
			{loadtest.CloseMidway, 200, ErrReset, "", "", false},
			{loadtest.Garbage, 200, ErrFraming, "", "", false},
			{loadtest.Stall, 200, ErrTimeout, "", "", false},
		} {
			s := serve(t, w, c.behaviour, loadtest.Options{})
			timeout := 10 * time.Second
			if c.behaviour == loadtest.Stall {
				timeout = 50 * time.Millisecond
			}
			session := openTo(t, w, s, Options{Requests: batches(c.status), Connections: 1, Timeout: timeout})
			r, err := session.Run(context.Background(), Leg{Lead: 1, Ops: 4})
			acked, requests := session.Totals().Acked, s.Requests()
			session.Close()
			s.Close()
			madeInTime(t, err)
			want := int64(0)
			if c.all {
				want = itemsOf(requests)
			}
			assert.Equal(t, string(c.behaviour)+": acknowledged", acked, want)
			if c.class != "" && r.Errors[c.class] < 4 || c.class == "" && len(r.Errors) > 0 {
				t.Errorf("%s: errors %v", c.behaviour, r.Errors)
			}
			if w.protocol == GRPC {
				c.first = c.grpc
			}
			if c.first != "" {
				assert.Equal(t, "first error", r.FirstError, c.first)
			}
		}
	})
}

func TestVerifiedWrongIsNotAcked(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		defer s.Close()
		o := Options{
			Requests: []Request{{Method: "POST", Path: "/", Items: 7}}, Connections: 1, Sample: 5,
			Verify: func(int, int, []byte) error { return errors.New("not all of them") },
		}
		session := openTo(t, w, s, o)
		defer session.Close()
		_, err := session.Run(context.Background(), Leg{Ops: 20})
		assert.NoError(t, "run", err)
		assert.Equal(t, "acknowledged", session.Totals().Acked, 7*(s.Requests()-4))
	})
}
