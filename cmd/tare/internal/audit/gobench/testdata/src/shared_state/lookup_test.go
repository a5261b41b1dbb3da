package shared_state

import (
	"strings"
	"testing"
)

var solverSink int

func openSolver(tb testing.TB, l limits) *solver {
	tb.Helper()
	s := newSolver(l)
	tb.Cleanup(func() { s.known = nil })
	return s
}

var texts = map[string][]string{"short": {"a", "b"}, "long": {"aaaa", "bbbb"}}

func BenchmarkSolveCached(b *testing.B) {
	s := openSolver(b, limits{CacheSize: 100, Depth: 2})
	for _, name := range []string{"short", "long"} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				solverSink = s.Solve(texts[name][i&1]) // want `s remembers what it was asked for`
			}
		})
	}
}

func BenchmarkLazy(b *testing.B) {
	l := &lazy[string]{values: map[string]string{}, make: strings.ToUpper}
	for _, name := range []string{"short", "long"} {
		at := l.At
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				at(texts[name][i&1]) // want `l remembers what it was asked for`
			}
		})
	}
}

func BenchmarkMatchOrder(b *testing.B) {
	s := &solver{rules: []string{"a", "b", "aaaa", "bbbb"}}
	ask := func(list []string, n int) {
		for i := range n {
			s.Match(list[i&1]) // want `s changes its order by use`
		}
	}
	for _, name := range []string{"short", "long"} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				ask(texts[name], 2)
			}
		})
		b.Run(name+"/once", func(b *testing.B) {
			for range b.N {
				s.Match(name) // the same in each iteration
				s.Match(texts[name][len(name)%2])
			}
		})
		b.Run(name+"/alternating", func(b *testing.B) {
			for i := range b.N {
				s.Match(texts[name][i&1]) // want `s changes its order by use`
			}
		})
	}
}

func BenchmarkSolveUncached(b *testing.B) {
	s := openSolver(b, limits{Depth: 2})
	for _, name := range []string{"short", "long"} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				solverSink = s.Solve(texts[name][i&1])
			}
		})
	}
}

func BenchmarkSolveFresh(b *testing.B) {
	for _, name := range []string{"short", "long"} {
		b.Run(name, func(b *testing.B) {
			s := openSolver(b, limits{CacheSize: 100})
			for i := range b.N {
				solverSink = s.Solve(texts[name][i&1])
			}
		})
	}
}

func BenchmarkSolveWarm(b *testing.B) {
	s := openSolver(b, limits{CacheSize: 100})
	for _, name := range []string{"short", "long"} {
		b.Run(name, func(b *testing.B) {
			for _, text := range texts[name] {
				s.Solve(text)
			}
			b.ResetTimer()
			for i := range b.N {
				solverSink = s.Solve(texts[name][i&1])
			}
		})
	}
}
