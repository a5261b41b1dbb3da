package users_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/tarebench/tare/apps/users"
)

func soak() bool { return os.Getenv("TARE_SOAK") != "" }

func open(t testing.TB, store string, n int) users.Repository {
	t.Helper()
	r, err := users.Open(context.Background(), store, n)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOpen(t *testing.T) {
	for _, store := range []string{"memory", "linear"} {
		r := open(t, store, 7)
		list, total, err := r.List(t.Context(), "", 0, 10)
		if err != nil || total != 7 || len(list) != 7 || list[6] != users.Seeded(6) {
			t.Errorf("%s: %+v, %d, %v", store, list, total, err)
		}
		if _, err := users.Open(t.Context(), store, -1); err == nil {
			t.Errorf("%s: opened with a negative number of users", store)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := users.Open(gone, store, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", store, err)
		}
	}
	for _, store := range []string{"", "Memory", "memory:", "sqlite:x"} {
		if _, err := users.Open(t.Context(), store, 0); !errors.Is(err, users.ErrNoStore) {
			t.Errorf("%q: %v", store, err)
		}
	}
}

func TestSeeded(t *testing.T) {
	names := map[string]bool{}
	const n = 20_000
	length, shortest, longest := 0, 100, 0
	for k := range n {
		u := users.Seeded(k)
		at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(k) * time.Second)
		if u.ID != users.FirstID+int64(k) || u.Email != fmt.Sprintf("u%09d@example.com", u.ID) || u.CreatedAt != at || u.UpdatedAt != at {
			t.Fatalf("%d: %+v", k, u)
		}
		d := users.Draft{Name: u.Name, Email: u.Email}
		if err := d.Check(); err != nil || d.Normal() != d {
			t.Fatalf("%+v: %v", u, err)
		}
		c := utf8.RuneCountInString(u.Name)
		shortest, longest, length = min(shortest, c), max(longest, c), length+c
		names[u.Name] = true
	}
	if shortest < 8 || longest > 30 || length < 12*n || len(names) < 3000 {
		t.Errorf("names of %d to %d characters, %d in all, %d differ", shortest, longest, length, len(names))
	}
}

// A store of many, of which most go and some come, is paged through as a list is.
func TestManyUsers(t *testing.T) {
	n := 40_000
	if soak() {
		n = 1_000_000
	}
	ctx := t.Context()
	r := open(t, users.MemoryStore, n)
	rng := rand.New(rand.NewPCG(1, 2))
	var ids []int64
	for round := range 3 {
		if err := r.Reset(ctx, n); err != nil {
			t.Fatal(err)
		}
		ids = ids[:0]
		for k := range n {
			ids = append(ids, users.FirstID+int64(k))
		}
		for i := range n / 3 {
			u, err := r.Create(ctx, users.Draft{Name: "New", Email: fmt.Sprintf("n%d@example.org", i)}, time.Unix(0, 0).UTC())
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, u.ID)
		}
		from, share := n/10, round*48 // per cent of those after the first tenth, which all go
		ids = slices.DeleteFunc(ids, func(id int64) bool {
			goes := id < users.FirstID+int64(from) || rng.IntN(100) < share
			if goes {
				if err := r.Delete(ctx, id); err != nil {
					t.Fatal(err)
				}
			}
			return goes
		})
		for range 300 {
			offset := rng.IntN(len(ids))
			list, total, err := r.List(ctx, "", offset, 3)
			if err != nil || int(total) != len(ids) || list[0].ID != ids[offset] || len(list) != min(3, len(ids)-offset) || list[len(list)-1].ID != ids[offset+len(list)-1] {
				t.Fatalf("round %d, from %d: %+v of %d, %v", round, offset, list, total, err)
			}
		}
	}
	// Taken back, and not made anew.
	if err := r.Reset(ctx, n); err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{0, n / 20, n / 2, n - 1} {
		list, total, err := r.List(ctx, "", k, 10)
		if err != nil || int(total) != n || list[0] != users.Seeded(k) {
			t.Errorf("from %d: %+v of %d, %v", k, list, total, err)
		}
	}
}

// ending is a context that ends when it has been looked at so often.
type ending struct {
	context.Context
	looks atomic.Int64
}

func (e *ending) Err() error {
	if e.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Whoever goes in the middle of a long call is not worked for to its end, and nothing has changed.
func TestCancelledMeanwhile(t *testing.T) {
	const n = 10_000
	for _, store := range []string{users.MemoryStore, users.LinearStore} {
		r := open(t, store, n)
		last := users.FirstID + int64(n) - 1
		calls := map[string]func(ctx context.Context) error{
			"search": func(ctx context.Context) error { _, _, err := r.List(ctx, "nobody", 0, 10); return err },
			"reset":  func(ctx context.Context) error { return r.Reset(ctx, n/2) },
		}
		if store == users.LinearStore {
			d := users.Draft{Name: "New", Email: "new@example.org"}
			calls["create"] = func(ctx context.Context) error { _, err := r.Create(ctx, d, time.Time{}); return err }
			calls["get"] = func(ctx context.Context) error { _, err := r.Get(ctx, last); return err }
			calls["update"] = func(ctx context.Context) error { _, err := r.Update(ctx, last, d, time.Time{}); return err }
			calls["delete"] = func(ctx context.Context) error { return r.Delete(ctx, last) }
		}
		for name, call := range calls {
			for _, looks := range []int64{0, 1, 3} {
				ctx := &ending{Context: t.Context()}
				ctx.looks.Store(looks)
				if err := call(ctx); err != context.Canceled {
					t.Errorf("%s: %s after %d looks: %v", store, name, looks, err)
				}
			}
		}
		list, total, err := r.List(t.Context(), "", n-1, 10)
		if err != nil || total != n || len(list) != 1 || list[0] != users.Seeded(n-1) {
			t.Errorf("%s: %+v of %d, %v", store, list, total, err)
		}
	}
}

// Nothing of what a caller hands over is kept: it may live in a buffer that is used again.
func TestStoresKeepNothing(t *testing.T) {
	for _, store := range []string{users.MemoryStore, users.LinearStore} {
		r := open(t, store, 1)
		buffer := []byte("Ann ann@example.org")
		d := users.Draft{Name: unsafe.String(&buffer[0], 3), Email: unsafe.String(&buffer[4], 15)}
		u, err := r.Create(t.Context(), d, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		copy(buffer, "Bob bob@")
		v, err := r.Update(t.Context(), users.FirstID, d, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		clear(buffer)
		list, _, err := r.List(t.Context(), "@example.org", 0, 10)
		if err != nil || len(list) != 2 || list[0] != v || list[1] != u || u.Email != "ann@example.org" || v.Name != "Bob" {
			t.Errorf("%s: %+v %+v, %+v, %v", store, u, v, list, err)
		}
		if _, err := r.Create(t.Context(), users.Draft{Email: strings.Clone("bob@example.org")}, time.Time{}); err != users.ErrEmailTaken {
			t.Errorf("%s: %v", store, err)
		}
	}
}

// What a call allocates is measured, so it is known: the user with its text, a page.
func TestAllocations(t *testing.T) {
	ctx := t.Context()
	s := service(t, users.Config{}, 1000)
	d := users.Draft{Name: "Somebody Else", Email: "somebody@example.org"}
	for name, c := range map[string]struct {
		most float64
		call func() error
	}{
		"get":    {0, func() error { _, err := s.Get(ctx, users.FirstID+7); return err }},
		"update": {2, func() error { _, err := s.Update(ctx, users.FirstID+7, d); return err }},
		"list":   {1, func() error { _, err := s.List(ctx, users.Query{Page: 3}); return err }},
		"allow":  {0, func() error { s.Allow(); return nil }},
	} {
		got := testing.AllocsPerRun(200, func() {
			if err := c.call(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		})
		if got > c.most {
			t.Errorf("%s: %.0f allocations, want %.0f", name, got, c.most)
		}
	}
}
