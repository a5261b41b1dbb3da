package no_loop

import (
	"strings"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if strings.Count("cheese", "e") != 3 {
			b.Fatal("wrong")
		}
	}
}

func BenchmarkHelped(b *testing.B) { benchmarkCount(b, "cheese") }

func benchmarkCount(b *testing.B, text string) {
	for range b.N {
		if strings.Count(text, "e") == 0 {
			b.Fatal("wrong")
		}
	}
}
