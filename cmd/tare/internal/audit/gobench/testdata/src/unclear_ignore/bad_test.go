package unclear_ignore

import (
	"testing"
	"time"
)

func BenchmarkBad(b *testing.B) {
	for b.Loop() {
		// want +1 `gives no reason`
		//tare:ignore sleep-in-loop
		time.Sleep(time.Millisecond) // want `sleeps for`
	}
}
