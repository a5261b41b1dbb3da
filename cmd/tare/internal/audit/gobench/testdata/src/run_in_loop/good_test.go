package run_in_loop

import (
	"strings"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	for _, text := range []string{"cheese", "bee"} {
		b.Run(text, func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				if strings.Count(text, "e") == 0 {
					b.Fatal("wrong")
				}
			}
		})
	}
}
