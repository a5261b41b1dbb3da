package users_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2025, time.March, 4, 5, 6, 7, 89_012_345, time.FixedZone("", 3600))}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// service is one over n users in memory.
func service(t testing.TB, c users.Config, n int) *users.Service {
	t.Helper()
	r, err := users.Open(context.Background(), users.MemoryStore, n)
	if err != nil {
		t.Fatal(err)
	}
	return users.New(c, r)
}

// refused wants a refusal and says what it is.
func refused(t *testing.T, what string, err error, code users.Code, message string) {
	t.Helper()
	e, ok := err.(*users.Error)
	if !ok || e.Code != code || e.Message != message {
		t.Errorf("%s: %v, want %s: %s", what, err, code, message)
	}
}

func TestService(t *testing.T) {
	ctx, now := t.Context(), newClock()
	s := service(t, users.Config{Now: now.Now}, 12)
	first := time.Date(2025, time.March, 4, 4, 6, 7, 89_012_000, time.UTC)
	want := users.User{ID: users.FirstID + 12, Name: "Grace Öl", Email: "grace@example.org", CreatedAt: first, UpdatedAt: first}
	u, err := s.Create(ctx, users.Draft{Name: "  Grace Öl\n", Email: " Grace@EXAMPLE.org\t"})
	if err != nil || u != want {
		t.Errorf("create: %+v, %v, want %+v", u, err, want)
	}
	now.pass(time.Minute)
	want.Name, want.UpdatedAt = "Grace Ö. L.", first.Add(time.Minute)
	u, err = s.Update(ctx, want.ID, users.Draft{Name: want.Name, Email: "GRACE@example.org"})
	if err != nil || u != want {
		t.Errorf("update: %+v, %v, want %+v", u, err, want)
	}
	if u, err = s.Get(ctx, want.ID); err != nil || u != want {
		t.Errorf("get: %+v, %v, want %+v", u, err, want)
	}
	p, err := s.List(ctx, users.Query{Text: " GRACE ö "})
	if page := (users.Page{Users: []users.User{want}, Total: 1, Page: 1, Limit: 10}); err != nil || !reflect.DeepEqual(p, page) {
		t.Errorf("list: %+v, %v, want %+v", p, err, page)
	}
	if err := s.Delete(ctx, want.ID); err != nil {
		t.Errorf("delete: %v", err)
	}
	p, err = s.List(ctx, users.Query{Text: "grace"})
	if err != nil || p.Users == nil || len(p.Users) != 0 || p.Total != 0 {
		t.Errorf("list: %+v, %v, want an empty page", p, err)
	}
}

func TestList(t *testing.T) {
	s := service(t, users.Config{}, 250)
	for _, c := range []struct{ page, limit, first, users, page2, limit2 int }{
		{0, 0, 0, 10, 1, 10},
		{1, 10, 0, 10, 1, 10},
		{25, 10, 240, 10, 25, 10},
		{26, 10, 0, 0, 26, 10},
		{3, 100, 200, 50, 3, 100},
		{3, 101, 200, 50, 3, 100},
		{2, math.MaxInt, 100, 100, 2, 100},
		{math.MaxInt, 100, 0, 0, math.MaxInt, 100},
		{math.MaxInt/100 + 1, 100, 0, 0, math.MaxInt/100 + 1, 100},
		{250, 1, 249, 1, 250, 1},
	} {
		p, err := s.List(t.Context(), users.Query{Page: c.page, Limit: c.limit})
		if err != nil || p.Total != 250 || len(p.Users) != c.users || p.Users == nil || p.Page != c.page2 || p.Limit != c.limit2 ||
			len(p.Users) > 0 && p.Users[0] != users.Seeded(c.first) {
			t.Errorf("page %d of %d: %+v, %v", c.page, c.limit, p, err)
		}
	}
}

func TestServiceRefuses(t *testing.T) {
	ctx := t.Context()
	s := service(t, users.Config{}, 3)
	good := users.Draft{Name: "Somebody", Email: "somebody@example.org"}
	taken := users.Draft{Name: "Somebody", Email: " " + strings.ToUpper(users.Seeded(1).Email)}
	call := func(_ any, err error) error { return err }
	const none, mail = "no such user", "the e-mail is taken"
	refused(t, "get", call(s.Get(ctx, 0)), users.NotFound, none)
	refused(t, "get", call(s.Get(ctx, -5)), users.NotFound, none)
	refused(t, "get", call(s.Get(ctx, users.FirstID+3)), users.NotFound, none)
	refused(t, "update", call(s.Update(ctx, 1, good)), users.NotFound, none)
	refused(t, "update", call(s.Update(ctx, 1, users.Draft{})), users.InvalidArgument, "name: 3 to 100 characters, not 0")
	refused(t, "update", call(s.Update(ctx, users.FirstID, taken)), users.AlreadyExists, mail)
	refused(t, "create", call(s.Create(ctx, taken)), users.AlreadyExists, mail)
	refused(t, "create", call(s.Create(ctx, users.Draft{Name: "Somebody"})), users.InvalidArgument, "email: not an address")
	refused(t, "delete", s.Delete(ctx, math.MinInt64), users.NotFound, none)
	refused(t, "list", call(s.List(ctx, users.Query{Page: -1})), users.InvalidArgument, "page: at least 1, not -1")
	refused(t, "list", call(s.List(ctx, users.Query{Limit: -5})), users.InvalidArgument, "limit: at least 1, not -5")

	gone, cancel := context.WithCancel(ctx)
	cancel()
	late, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	refused(t, "get", call(s.Get(gone, users.FirstID)), users.Canceled, "the caller has gone")
	refused(t, "get", call(s.Get(late, users.FirstID)), users.DeadlineExceeded, "the caller's time is over")
	refused(t, "create", call(s.Create(gone, good)), users.Canceled, "the caller has gone")
	if p, err := s.List(ctx, users.Query{}); err != nil || p.Total != 3 || p.Users[0] != users.Seeded(0) {
		t.Errorf("after rejected calls: %+v, %v", p, err)
	}
}

// broken fails with an error of its own.
type broken struct {
	users.Repository
	err error
}

func (b broken) Get(context.Context, int64) (users.User, error) { return users.User{}, b.err }
func (b broken) List(context.Context, string, int, int) ([]users.User, int64, error) {
	return nil, 0, b.err
}
func (b broken) Delete(context.Context, int64) error      { return b.err }
func (b broken) Reset(_ context.Context, n int) (_ error) { return map[bool]error{true: b.err}[n > 0] }

func TestStoreFails(t *testing.T) {
	ctx := t.Context()
	full := errors.New("disk full at /secret")
	s := users.New(users.Config{}, broken{err: full})
	if s.Fault() != nil {
		t.Errorf("fault %v before any call", s.Fault())
	}
	_, err := s.Get(ctx, 1)
	refused(t, "get", err, users.Unavailable, "the store failed")
	if !errors.Is(err, full) || strings.Contains(err.Error(), "secret") || s.Fault() != full {
		t.Errorf("%v with fault %v", err, s.Fault())
	}
	_, err = s.List(ctx, users.Query{})
	refused(t, "list", err, users.Unavailable, "the store failed")
	refused(t, "delete", s.Delete(ctx, 1), users.Unavailable, "the store failed")
	if err := s.Reset(ctx, 1); err != full || s.Fault() != full || s.Calls().Get != 1 {
		t.Errorf("a reset that fails: %v, fault %v, %+v", err, s.Fault(), s.Calls())
	}
	if err := s.Reset(ctx, 0); err != nil || s.Fault() != nil {
		t.Errorf("reset: %v, fault %v", err, s.Fault())
	}

	// A store's own deadline is not the caller's; the caller's is, whatever the store says.
	s = users.New(users.Config{}, broken{err: fmt.Errorf("pool: %w", context.DeadlineExceeded)})
	_, err = s.Get(ctx, 1)
	refused(t, "get", err, users.Unavailable, "the store failed")
	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err = users.New(users.Config{}, broken{err: errors.New("interrupted")}).Get(gone, 1)
	refused(t, "get", err, users.Canceled, "the caller has gone")
	_, err = users.New(users.Config{}, broken{}).List(ctx, users.Query{})
	if err != nil {
		t.Errorf("list: %v", err)
	}
}

// One call in so many fails, no matter which, and nothing of it is done.
func TestFailOne(t *testing.T) {
	ctx := t.Context()
	s := service(t, users.Config{FailOne: 5}, 1)
	for round := range 2 {
		failed := 0
		for i := range 100 {
			_, err := s.Create(ctx, users.Draft{Name: "Somebody", Email: fmt.Sprintf("s%d@example.org", i)})
			if err != nil {
				refused(t, "create", err, users.Unavailable, "the store failed, as configured")
				failed++
			}
		}
		s2, err := s.List(ctx, users.Query{})
		if failed != 20 || err != nil || s2.Total != 81 || s.Fault() != nil {
			t.Errorf("round %d: %d of 100 failed, %d users, %v", round, failed, s2.Total, err)
		}
		if c := s.Calls(); c.Create != 100 || c.List != 1 {
			t.Errorf("round %d: %+v", round, c)
		}
		if err := s.Reset(ctx, 1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestValidateTwice(t *testing.T) {
	for _, times := range []int{-1, 0, 1, 2, 7} {
		s := service(t, users.Config{Validate: times}, 1)
		u, err := s.Create(t.Context(), users.Draft{Name: " Somebody ", Email: " S@example.org"})
		if err != nil || u.Name != "Somebody" || u.Email != "s@example.org" {
			t.Errorf("%d times: %+v, %v", times, u, err)
		}
		_, err = s.Create(t.Context(), users.Draft{Name: "So", Email: "so@example.org"})
		refused(t, "create", err, users.InvalidArgument, "name: 3 to 100 characters, not 2")
	}
}
