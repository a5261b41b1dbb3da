package no_loop

import (
	"strings"
	"testing"
)

func BenchmarkBad(b *testing.B) { // want `has no loop`
	b.ReportAllocs()
	if strings.Count("cheese", "e") != 3 {
		b.Fatal("wrong")
	}
}
