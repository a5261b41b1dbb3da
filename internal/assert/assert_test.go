package assert

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
)

// probe is a test that records its failure instead of failing.
type probe struct {
	testing.TB
	message string
}

func (p *probe) Helper() {}

func (p *probe) Fatalf(format string, args ...any) {
	p.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// outcome runs check and returns what it failed with, empty if it passed.
func outcome(check func(testing.TB)) string {
	p := &probe{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(p)
	}()
	<-done
	return p.message
}

func TestEachCheckPassesAndFails(t *testing.T) {
	wrapped := fmt.Errorf("read input: %w", io.EOF)
	for _, c := range []struct {
		name string
		pass func(testing.TB)
		fail func(testing.TB)
		says string
	}{
		{"Equal", func(t testing.TB) { Equal(t, "n", 1, 1) }, func(t testing.TB) { Equal(t, "n", 1, 2) }, "n: got 1, want 2"},
		{"Slices", func(t testing.TB) { Slices(t, "s", []int{1, 2}, []int{1, 2}) }, func(t testing.TB) { Slices(t, "s", []int{1, 2}, []int{1, 3}) }, "s: element 1"},
		{"Slices length", func(t testing.TB) { Slices[int](t, "s", nil, nil) }, func(t testing.TB) { Slices(t, "s", []int{1}, nil) }, "want 0"},
		{"Near", func(t testing.TB) { Near(t, "x", 1.01, 1, 0.02) }, func(t testing.TB) { Near(t, "x", 1.03, 1, 0.02) }, "within 0.02"},
		{"Near NaN", func(t testing.TB) { Near(t, "x", 1, 1, 0) }, func(t testing.TB) { Near(t, "x", math.NaN(), 1, 9) }, "NaN"},
		{"NoError", func(t testing.TB) { NoError(t, "open", nil) }, func(t testing.TB) { NoError(t, "open", io.EOF) }, "open: EOF"},
		{"ErrorIs", func(t testing.TB) { ErrorIs(t, "read", wrapped, io.EOF) }, func(t testing.TB) { ErrorIs(t, "read", errors.New("x"), io.EOF) }, "want EOF"},
		{"ErrorContains", func(t testing.TB) { ErrorContains(t, "read", wrapped, "input") }, func(t testing.TB) { ErrorContains(t, "read", wrapped, "output") }, "output"},
		{"ErrorContains nil", func(t testing.TB) { ErrorContains(t, "read", wrapped, "") }, func(t testing.TB) { ErrorContains(t, "read", nil, "x") }, "no error"},
		{"Contains", func(t testing.TB) { Contains(t, "page", "abc", "b") }, func(t testing.TB) { Contains(t, "page", "abc", "d") }, `"d" is not in`},
	} {
		if got := outcome(c.pass); got != "" {
			t.Errorf("%s: a sound case failed: %s", c.name, got)
		}
		if got := outcome(c.fail); !strings.Contains(got, c.says) {
			t.Errorf("%s: an unsound case said %q, want %q in it", c.name, got, c.says)
		}
	}
}
