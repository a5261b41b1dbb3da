package setup_timed

import (
	"elsewhere"
	"strings"
	"testing"
)

type corpus struct{ words []string }

func (c *corpus) index() map[string]int {
	counts := map[string]int{}
	var all []string
	for _, w := range c.words {
		all = append(all, strings.Fields(w)...)
	}
	for _, w := range all {
		counts[w]++
	}
	return counts
}

func start(b *testing.B) {
	b.ReportAllocs()
	b.ResetTimer()
}

var indexSink int

func BenchmarkAfterStart(b *testing.B) {
	c := &corpus{words: elsewhere.Lines(50, 3)}
	start(b)
	counts := c.index() // want `c.index before the loop is timed: it runs after the timer was reset`
	for range b.N {
		indexSink += counts["a"]
	}
}

func BenchmarkAfterFixture(b *testing.B) {
	for _, size := range []int{10, 100} {
		b.Run("", func(b *testing.B) {
			b.ResetTimer()
			lines := elsewhere.Lines(20_000, size) // want `elsewhere.Lines before the loop is timed`
			for i := range b.N {
				indexSink += len(lines[i%len(lines)])
			}
		})
	}
}

func randomWords(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = strings.Repeat("a", i%7)
	}
	return words
}

func BenchmarkForN(b *testing.B) {
	words := randomWords(b.N) // want `randomWords prepares b.N inputs and is timed`
	for i := 0; i < b.N; i++ {
		indexSink += strings.Count(words[i], "a")
	}
}

func BenchmarkForNReset(b *testing.B) {
	words := randomWords(b.N)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		indexSink += strings.Count(words[i], "a")
	}
}

func BenchmarkBeforeStart(b *testing.B) {
	c := &corpus{words: elsewhere.Lines(20_000, 3)}
	counts := c.index()
	start(b)
	for range b.N {
		indexSink += counts["a"]
	}
}

func BenchmarkLoopPrepared(b *testing.B) {
	b.ResetTimer()
	lines := elsewhere.Lines(20_000, 3)
	for i := 0; b.Loop(); i++ {
		indexSink += len(lines[i%len(lines)])
	}
}

func BenchmarkFewLines(b *testing.B) {
	b.ResetTimer()
	lines := elsewhere.Lines(20, 3)
	for i := range b.N {
		indexSink += len(lines[i%len(lines)])
	}
}
