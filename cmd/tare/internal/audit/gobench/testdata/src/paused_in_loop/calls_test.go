package paused_in_loop

import (
	"slices"
	"testing"
)

type harness struct{ *testing.B }

func (h *harness) prepare(data []int) {
	h.StopTimer()
	defer h.StartTimer()
	copy(data, []int{3, 1, 2})
}

func pause(b *testing.B) (resume func()) {
	b.StopTimer()
	return b.StartTimer
}

func BenchmarkHelpers(b *testing.B) {
	data := make([]int, 3)
	b.Run("embedded", func(b *testing.B) {
		h := &harness{b}
		for i := 0; i < b.N; i++ {
			h.prepare(data) // want `paused-in-loop: b.StopTimer, which h.prepare calls, runs in each iteration .and in 3 other loops`
			slices.Sort(data)
		}
	})
	b.Run("resume", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			resume := pause(b)
			copy(data, []int{3, 1, 2})
			resume()
			slices.Sort(data)
		}
	})
	b.Run("value", func(b *testing.B) {
		stop, start := b.StopTimer, b.StartTimer
		for b.Loop() {
			stop()
			copy(data, []int{3, 1, 2})
			start()
			slices.Sort(data)
		}
	})
	b.Run("closure", func(b *testing.B) {
		untimed := func(work func()) {
			b.StopTimer()
			work()
			b.StartTimer()
		}
		for range b.N {
			untimed(func() { copy(data, []int{3, 1, 2}) })
			slices.Sort(data)
		}
	})
	b.Run("rarely", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			if i%1000 == 0 {
				pause(b)()
			}
			slices.Reverse(data)
		}
	})
}
