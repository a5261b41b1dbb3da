package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// counting counts clients, and calls that share one.
type counting struct {
	Client
	busy   atomic.Int64
	shared *atomic.Int64
	closed *atomic.Int64
}

func (c *counting) Get(context.Context, int64) (users.User, error) {
	if c.busy.Add(1) > 1 {
		c.shared.Add(1)
	}
	time.Sleep(time.Millisecond)
	c.busy.Add(-1)
	return users.User{}, nil
}

func (c *counting) Close() error {
	c.closed.Add(1)
	return nil
}

func TestByPolicy(t *testing.T) {
	for policy, want := range map[string]int64{Pool: 4, One: 1, Fresh: 40} {
		var made, shared, closed atomic.Int64
		c, err := ByPolicy(Target{Policy: policy, Callers: 4}, func() (Client, error) {
			made.Add(1)
			return &counting{shared: &shared, closed: &closed}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 10 {
					if _, err := c.Get(context.Background(), 1); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if err := c.Close(); err != nil || made.Load() != want || closed.Load() != want || (shared.Load() > 0) != (policy == One) {
			t.Errorf("%s: %d clients made, %d closed, %d calls shared one, %v; want %d", policy, made.Load(), closed.Load(), shared.Load(), err, want)
		}
	}
	if _, err := ByPolicy(Target{Policy: "none"}, nil); err == nil {
		t.Error("an unknown policy is taken")
	}
	var closed atomic.Int64
	n := 0
	if _, err := ByPolicy(Target{Policy: Pool, Callers: 3}, func() (Client, error) {
		if n++; n == 3 {
			return nil, errors.New("no more")
		}
		return &counting{closed: &closed}, nil
	}); err == nil || closed.Load() != 2 {
		t.Errorf("%v, %d closed", err, closed.Load())
	}
	dead := func() (Client, error) { return nil, errors.New("refused") }
	c, _ := ByPolicy(Target{Policy: Fresh}, dead)
	if _, err := c.List(context.Background(), users.Query{}); err == nil || err.Error() != "refused" {
		t.Error(err)
	}
}

// TestProtoJSON reads what protojson writes.
func TestProtoJSON(t *testing.T) {
	const u = `{"id":"300000007","name":"Ada","email":"a@example.com","createdAt":"2024-01-01T00:00:07Z","updatedAt":"2024-01-01T00:00:08.000001Z"}`
	at := time.Date(2024, 1, 1, 0, 0, 7, 0, time.UTC)
	want := users.User{ID: 300000007, Name: "Ada", Email: "a@example.com", CreatedAt: at, UpdatedAt: at.Add(time.Second + time.Microsecond)}
	if got, err := (protoJSON{}).readUser(json.NewDecoder(strings.NewReader(u))); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	p, err := (protoJSON{}).readPage(json.NewDecoder(strings.NewReader(`{"users":[` + u + `],"total":"12","page":2,"limit":5}`)))
	if err != nil || len(p.Users) != 1 || p.Users[0] != want || p.Total != 12 || p.Page != 2 || p.Limit != 5 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := (plainJSON{}).readUser(json.NewDecoder(strings.NewReader(u))); err == nil {
		t.Error("a number in quotes is taken by the JSON of package users")
	}
}

// TestFill: counters go into their places, in order and once.
func TestFill(t *testing.T) {
	var n Counters
	create := Call{Op: OpCreate, Email: "n%09d@example.com", EmailCounter: Created, EmailStep: true}
	for _, want := range []string{"n000000000@example.com", "n000000001@example.com"} {
		if got := create.Fill(&n); got.Email != want || got.EmailCounter != "" {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	drop := Call{Op: OpDelete, ID: users.FirstID, IDCounter: Deleted, IDStep: true}
	get := Call{Op: OpGet, ID: users.FirstID + 100, IDCounter: Deleted}
	drop.Fill(&n)
	if a, b := drop.Fill(&n), get.Fill(&n); a.ID != users.FirstID+1 || b.ID != users.FirstID+102 {
		t.Errorf("%d, %d", a.ID, b.ID)
	}
	n.Reset()
	if got := drop.Fill(&n); got.ID != users.FirstID {
		t.Errorf("after reset %d", got.ID)
	}
	for n, want := range map[int64]string{0: "a000000000b", 123456789: "a123456789b", 12345678901: "a12345678901b"} {
		if got := fillNumber("a%09db", n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := testing.AllocsPerRun(100, func() { create.Fill(&n) }); got > 1 {
		t.Errorf("%.0f objects for a call, want the e-mail alone", got)
	}
}
