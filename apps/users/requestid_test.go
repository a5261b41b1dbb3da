package users_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/tarebench/tare/apps/users"
)

func TestRequestID(t *testing.T) {
	s := service(t, users.Config{}, 0)
	for _, given := range []string{"a", "~!", "0b5c3c2e-6c1f-4c0e", strings.Repeat("x", 128)} {
		if got := s.RequestID(given); got != given {
			t.Errorf("%q became %q", given, got)
		}
	}
	for _, given := range []string{"", " ", "a b", "a\r\nSet-Cookie: x", "é", "\x7f", strings.Repeat("x", 129)} {
		if got := s.RequestID(given); got == given || got == "" || s.RequestID(got) != got {
			t.Errorf("%q became %q", given, got)
		}
	}
	if a, b := s.RequestID(""), service(t, users.Config{}, 0).RequestID(""); a[:16] == b[:16] {
		t.Errorf("two services make %s and %s", a, b)
	}
}

func TestRequestIDsDiffer(t *testing.T) {
	s := service(t, users.Config{}, 0)
	const goroutines, each = 4, 2000
	made := make([][]string, goroutines)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			for range each {
				made[i] = append(made[i], s.RequestID(""))
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
