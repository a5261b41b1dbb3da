package sleep_in_loop

import (
	"testing"
	"time"
)

func awaitsleeps() {
	<-time.After(time.Microsecond)
}

func BenchmarkVerbInName(b *testing.B) {
	for i := 0; i < b.N; i++ {
		awaitsleeps() // want `awaitsleeps, which the loop calls, waits for`
	}
}
