package log_in_loop

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	for b.Loop() {
		fmt.Println(strings.Count("cheese", "e")) // want `fmt.Println writes a line in each iteration`
	}
}
