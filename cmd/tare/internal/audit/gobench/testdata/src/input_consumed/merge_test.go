package input_consumed

import "testing"

type guests struct{ names []string }

func (g *guests) mergeTwins() int {
	seen := map[string]bool{}
	kept := g.names[:0]
	for _, n := range g.names {
		if seen[n] {
			continue
		}
		seen[n] = true
		kept = append(kept, n)
	}
	merged := len(g.names) - len(kept)
	g.names = kept
	return merged
}

var lastMerged int

func BenchmarkMergeTwins(b *testing.B) {
	g := &guests{[]string{"a", "b", "a"}}
	for i := 0; i < b.N; i++ {
		lastMerged = g.mergeTwins() // want `g.mergeTwins drops entries of g`
	}
}

func BenchmarkMergeFresh(b *testing.B) {
	names := []string{"a", "b", "a"}
	g := &guests{}
	for i := 0; i < b.N; i++ {
		g.names = append(g.names[:0], names...)
		lastMerged = g.mergeTwins()
	}
}
