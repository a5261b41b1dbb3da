package unlike_work

import (
	"strings"
	"testing"
)

var tallySink int

// fields counts without making a slice.
func fields(s string) int {
	n := 0
	for range strings.FieldsSeq(s) {
		n++
	}
	return n
}

func BenchmarkFieldsBy(b *testing.B) {
	text := "one two three"
	b.Run("std", func(b *testing.B) {
		for b.Loop() { // want `makes all results and takes their number`
			tallySink = len(strings.Fields(text))
		}
	})
	b.Run("bytes", func(b *testing.B) {
		for b.Loop() {
			tallySink = strings.Count(text, " ")
		}
	})
}

// These sub-benchmarks are of different functions.
func BenchmarkWordsOf(b *testing.B) {
	text := "one two three"
	b.Run("Fields", func(b *testing.B) {
		for b.Loop() {
			tallySink = len(strings.Fields(text))
		}
	})
	b.Run("Runes", func(b *testing.B) {
		for b.Loop() {
			tallySink = strings.Count(text, "")
		}
	})
}

type tally func(text string) int

func distinct(text string) map[rune]bool {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return seen
}

var tallies = map[string]tally{
	"std": func(text string) int { // want `makes all results and takes their number`
		parts := strings.Split(text, ",")
		return len(parts)
	},
	"runes": func(text string) int { return len(distinct(text)) }, // want `makes all results and takes their number`
	"ours":  fields,
	"index": func(text string) int { return strings.Count(text, ",") + 1 },
}

func BenchmarkTallies(b *testing.B) {
	for name, run := range tallies {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				tallySink = run("a,b,c")
			}
		})
	}
}

// Names that say what the sides do differently.
var announced = []struct {
	name string
	run  tally
}{
	{"slice", func(text string) int { return len(strings.Split(text, ",")) }},
	{"count", func(text string) int { return strings.Count(text, ",") + 1 }},
}

// Both sides make a slice.
var alike = []struct {
	name string
	run  tally
}{
	{"std", func(text string) int { return len(strings.Split(text, ",")) }},
	{"words", func(text string) int { return len(strings.Fields(text)) }},
}

func BenchmarkAnnounced(b *testing.B) {
	for _, c := range announced {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				tallySink = c.run("a,b,c")
			}
		})
	}
	for _, c := range alike {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				tallySink = c.run("a,b,c")
			}
		})
	}
}

// A page encodes its lines in Bytes.
type page struct{ lines []string }

func newPage(lines []string) *page { return &page{lines: lines} }

func (p *page) Len() int { return len(p.lines) }

func (p *page) Bytes() []byte {
	var out []byte
	for _, l := range p.lines {
		out = append(out, l...)
	}
	return out
}

func appendLines(dst []byte, lines []string) []byte {
	for _, l := range lines {
		dst = append(dst, l...)
	}
	return dst
}

func packPage(lines []string) int { return newPage(lines).Len() } // want `only makes a value`

func packLines(lines []string) int { return len(appendLines(nil, lines)) }

func packWhole(lines []string) int { return len(newPage(lines).Bytes()) }

func AppendAll(lines []string) int { return len(appendLines(nil, lines)) }

func encodeLines(lines []string) int { return AppendAll(lines) }

func BenchmarkPacks(b *testing.B) {
	lines := []string{"a", "b"}
	for name, pack := range map[string]func([]string) int{"page": packPage, "lines": encodeLines, "whole": packWhole} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				tallySink = pack(lines)
			}
		})
	}
	for name, pack := range map[string]func([]string) int{"lines": packLines, "whole": packWhole} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				tallySink = pack(lines)
			}
		})
	}
}
