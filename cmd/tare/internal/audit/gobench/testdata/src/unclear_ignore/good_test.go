package unclear_ignore

import (
	"testing"
	"time"
)

func BenchmarkGood(b *testing.B) {
	for b.Loop() {
		//tare:ignore sleep-in-loop the sleep is what is measured
		time.Sleep(time.Millisecond)
	}
}
