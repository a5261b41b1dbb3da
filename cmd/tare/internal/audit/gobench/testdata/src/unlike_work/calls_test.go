package unlike_work

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"
)

var word = regexp.MustCompile(`\w+`)

func findWords(line []byte) [][]byte { return word.FindAll(line, -1) }

var finders = []struct {
	name string
	find func(line []byte) int
}{
	{"regexp", func(line []byte) int { return len(findWords(line)) }},      // want `makes all results and takes their number`
	{"bytes", func(line []byte) int { return bytes.IndexByte(line, ' ') }}, // want `works on one part of its input`
	{"split", func(line []byte) int {
		n := 0
		for range bytes.FieldsSeq(line) {
			n++
		}
		return n
	}},
}

var counters = map[string]func(line []byte) int{
	"count": func(line []byte) int { return bytes.Count(line, []byte{' '}) },
	"fixed": func(line []byte) int { return len(word.String()) }, // want `does nothing with its input`
	"noop":  func(line []byte) int { return 0 },
}

// A side whose name says what it leaves out is no mistake.
var named = map[string]func(line []byte) []byte{
	"first": func(line []byte) []byte { return word.Find(line) },
	"all":   func(line []byte) []byte { return findWords(line)[0] },
}

func BenchmarkTables(b *testing.B) {
	line := []byte("one two three")
	for _, f := range finders {
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				f.find(line)
			}
		})
	}
	for name, count := range counters {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				count(line)
			}
		})
	}
	for name, find := range named {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				find(line)
			}
		})
	}
}

func BenchmarkDecoders(b *testing.B) {
	text := []byte(`[1,2,3]`)
	b.Run("a", func(b *testing.B) {
		for b.Loop() {
			var out []int
			if err := json.Unmarshal(text, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("b", func(b *testing.B) {
		for b.Loop() { // want `only checks its input, but another side decodes it`
			if !json.Valid(text) {
				b.Fatal(text)
			}
		}
	})
}
