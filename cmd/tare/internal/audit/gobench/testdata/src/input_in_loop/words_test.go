package input_in_loop

import (
	"math/rand"
	"strings"
	"testing"
)

var source = rand.New(rand.NewSource(1))

func randomWord() string { return strings.Repeat(randomLetter(), 10) }

func randomLetter() string { return string(randomRune('a')) }

func randomRune(first rune) rune { return first + rune(randomBelow(26)) }

func randomBelow(n int) int { return source.Intn(n) }

func BenchmarkWords(b *testing.B) {
	for b.Loop() {
		if strings.Count("aaaaaaaaaab", randomWord()) > 1 {
			b.Fatal("wrong")
		}
	}
}

func sampleWord() string {
	r := rand.New(rand.NewSource(1))
	return string(rune('a' + r.Intn(26)))
}

func BenchmarkSameWord(b *testing.B) {
	for b.Loop() {
		if strings.Count("aab", sampleWord()) > 2 { // want `sampleWord\(\) makes the same input again` `random-timed: the call of sampleWord`
			b.Fatal("wrong")
		}
	}
}
