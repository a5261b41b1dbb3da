package homelab_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/tarebench/tare/apps/homelab"
)

func TestRequestID(t *testing.T) {
	h := newHouse(t, homelab.Config{})
	for _, given := range []string{"a", "~!", "0b5c3c2e-6c1f-4c0e", strings.Repeat("x", 64)} {
		if got := h.RequestID(given); got != given {
			t.Errorf("%q became %q", given, got)
		}
	}
	for _, given := range []string{"", " ", "a b", "a\r\nSet-Cookie: x", "é", "\x7f", strings.Repeat("x", 65)} {
		if got := h.RequestID(given); got == given || got == "" {
			t.Errorf("%q became %q", given, got)
		}
	}
	if a, b := h.RequestID(""), newHouse(t, homelab.Config{}).RequestID(""); a[:16] == b[:16] {
		t.Errorf("two services make %s and %s", a, b)
	}
}

func TestRequestIDsDiffer(t *testing.T) {
	h := newHouse(t, homelab.Config{})
	const goroutines, each = 4, 2000
	made := make([][]string, goroutines)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			for range each {
				made[i] = append(made[i], h.RequestID(""))
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, ids := range made {
		for _, id := range ids {
			seen[id] = true
		}
	}
	if len(seen) != goroutines*each {
		t.Errorf("%d of %d differ", len(seen), goroutines*each)
	}
}

// Whatever a client sends, the id of its request can stand in a header and in
// a log, and one that can already stays.
func FuzzRequestID(f *testing.F) {
	for _, given := range []string{"", "abc", "a b", "é", strings.Repeat("x", 65), "\x00"} {
		f.Add(given)
	}
	h := newHouse(f, homelab.Config{})
	f.Fuzz(func(t *testing.T, given string) {
		got := h.RequestID(given)
		if len(got) < 1 || len(got) > 64 || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Fatalf("%q became %q", given, got)
		}
		if h.RequestID(got) != got {
			t.Fatalf("%q is not sound itself", got)
		}
	})
}

func BenchmarkRequestID(b *testing.B) {
	h := newHouse(b, homelab.Config{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			h.RequestID("")
		}
	})
}
