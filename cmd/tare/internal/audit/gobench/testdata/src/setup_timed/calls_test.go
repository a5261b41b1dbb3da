package setup_timed

import (
	"os"
	"strings"
	"testing"
)

func words(n int) []string {
	var out []string
	for i := range n {
		out = append(out, strings.Repeat("w", i%9))
	}
	return out
}

func readWords(name string) []string {
	text, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return strings.Fields(string(text))
}

func index(list []string) map[string]int {
	m := map[string]int{}
	for i, w := range list {
		m[w] = i
	}
	return m
}

func restart(b *testing.B) {
	b.ReportAllocs()
	b.ResetTimer()
}

var found int

func BenchmarkAfterReset(b *testing.B) {
	list := words(500)
	b.ResetTimer()
	m := index(list) // want `index before the loop is timed: it runs after the timer was reset`
	for i := 0; i < b.N; i++ {
		found = m["w"]
	}
}

func BenchmarkAfterHelper(b *testing.B) {
	list := words(500)
	restart(b)
	m := map[string]int{}
	for i, w := range list { // want `a loop that prepares the input is timed: it runs after the timer was reset`
		m[w] = i
	}
	for i := 0; i < b.N; i++ {
		found = m["w"]
	}
}

func BenchmarkStarted(b *testing.B) {
	b.StopTimer()
	list := words(500)
	b.StartTimer()
	m := index(list) // want `index before the loop is timed`
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if m["w"] < 0 {
				b.Error("no word")
			}
		}
	})
}

func BenchmarkReads(b *testing.B) {
	m := index(readWords("words.txt")) // want `index before the loop is timed: nothing resets`
	for i := 0; i < b.N; i++ {
		found = m["w"]
	}
}

func BenchmarkSizes(b *testing.B) {
	for _, n := range []int{10, 1_000_000} {
		b.Run("", func(b *testing.B) {
			list := words(n) // want `words before the loop is timed: nothing resets`
			for i := 0; i < b.N; i++ {
				found = len(list[i%len(list)])
			}
		})
	}
}

// The helper resets the timer, b.Loop resets it itself, and ten steps take no time.
func BenchmarkHelperResets(b *testing.B) {
	m := index(readWords("words.txt"))
	restart(b)
	few := words(10)
	for i := 0; i < b.N; i++ {
		found = m[few[i%10]]
	}
}

func BenchmarkLoopResets(b *testing.B) {
	b.ResetTimer()
	m := index(readWords("words.txt"))
	for b.Loop() {
		found = m["w"]
	}
}
