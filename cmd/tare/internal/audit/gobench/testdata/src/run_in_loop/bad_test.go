package run_in_loop

import (
	"strings"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.Run("count", func(b *testing.B) { // want `b.Run is called in a loop`
			for j := 0; j < b.N; j++ {
				if strings.Count("cheese", "e") != 3 {
					b.Fatal("wrong")
				}
			}
		})
	}
}
