package sleep_in_loop

import (
	"testing"
	"time"
)

func awaitsleeps() {
	<-time.After(time.Microsecond) // want `awaitsleeps, which the loop calls, waits for`
}

func BenchmarkVerbInName(b *testing.B) {
	for i := 0; i < b.N; i++ {
		awaitsleeps()
	}
}
