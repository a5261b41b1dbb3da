package users_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/tarebench/tare/apps/users"
)

// some calls, each of which is another.
func some(ctx context.Context) []func(s *users.Service) {
	d := func(name, email string) users.Draft { return users.Draft{Name: name, Email: email} }
	q := func(text string, page, limit int) users.Query {
		return users.Query{Text: text, Page: page, Limit: limit}
	}
	var calls []func(s *users.Service)
	for _, draft := range []users.Draft{d("", ""), d("a", ""), d("", "a"), d("Ann Bee", "a@b"), d("Ann Bee ", "a@b.c"), d("Ann Bee Cee", "a@b"), d("Ann", "Bee a@b"), d("Ann Bee\x00", "a@b"), d("ann Bee", "a@b"), d("1234567890123456", "a@b"), d("1234567890123457", "a@b")} {
		calls = append(calls,
			func(s *users.Service) { _, _ = s.Create(ctx, draft) },
			func(s *users.Service) { _, _ = s.Update(ctx, 1, draft) },
			func(s *users.Service) { _, _ = s.Update(ctx, users.FirstID, draft) })
	}
	for _, id := range []int64{-1, 0, 1, users.FirstID, 1 << 40} {
		calls = append(calls,
			func(s *users.Service) { _, _ = s.Get(ctx, id) },
			func(s *users.Service) { _ = s.Delete(ctx, id) })
	}
	for _, query := range []users.Query{q("", 0, 0), q("", 2, 0), q("", 0, 2), q("", -1, 0), q("", 0, 1000), q("a", 0, 0), q("aa", 1, 10)} {
		calls = append(calls, func(s *users.Service) { _, _ = s.List(ctx, query) })
	}
	return calls
}

// No two calls are the same to the recorder.
func TestCallsDiffer(t *testing.T) {
	s := service(t, users.Config{}, 0)
	sums := map[uint64]int{}
	for i, call := range some(t.Context()) {
		if err := s.Reset(t.Context(), 0); err != nil || s.Calls() != (users.Calls{}) {
			t.Fatalf("after a reset: %+v, %v", s.Calls(), err)
		}
		call(s)
		c := s.Calls()
		if n := c.Create + c.Get + c.Update + c.Delete + c.List; n != 1 {
			t.Errorf("call %d: %+v", i, c)
		}
		if j, twice := sums[c.Sum]; twice {
			t.Errorf("calls %d and %d have the same sum", j, i)
		}
		sums[c.Sum] = i
	}
}

// The order of calls is nothing, and neither is who makes them, whether they fail,
// or how the same was said.
func TestCallsAdd(t *testing.T) {
	a := service(t, users.Config{}, 0)
	calls := some(t.Context())
	for _, call := range calls {
		call(a)
		call(a)
	}
	b := service(t, users.Config{FailOne: 3, Validate: 2}, 50)
	var all sync.WaitGroup
	for i := range calls {
		call := calls[len(calls)-1-i]
		for range 2 {
			all.Go(func() { call(b) })
		}
	}
	all.Wait()
	want := users.Calls{Create: 22, Get: 10, Update: 44, Delete: 10, List: 14, Sum: a.Calls().Sum}
	if got := a.Calls(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := b.Calls(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}

	c, d := service(t, users.Config{}, 0), service(t, users.Config{}, 0)
	ctx := t.Context()
	_, _ = c.Create(ctx, users.Draft{Name: "Ann", Email: "a@b"})
	_, _ = d.Create(ctx, users.Draft{Name: " Ann ", Email: "\tA@B "})
	_, _ = c.List(ctx, users.Query{Text: "a", Page: 1, Limit: 100})
	_, _ = d.List(ctx, users.Query{Text: " A", Limit: 700})
	if c.Calls() != d.Calls() {
		t.Errorf("%+v, %+v", c.Calls(), d.Calls())
	}
}

// The sum is the same on every machine, and in JSON exact for every reader.
func TestCallsJSON(t *testing.T) {
	s := service(t, users.Config{}, 0)
	_, _ = s.Get(t.Context(), users.FirstID)
	text, err := json.Marshal(s.Calls())
	if want := `{"create":0,"get":1,"update":0,"delete":0,"list":0,"sum":"` + sumOfOneGet + `"}`; err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	var c users.Calls
	if err := json.Unmarshal(text, &c); err != nil || c != s.Calls() {
		t.Errorf("%+v, %v", c, err)
	}
}

const sumOfOneGet = "10758130633520904304"
