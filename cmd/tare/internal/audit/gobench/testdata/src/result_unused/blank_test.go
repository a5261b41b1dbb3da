package result_unused

import "testing"

type lift struct{ floor, stops int }

func ride(l *lift, per int) int {
	way := l.floor - per
	if way < 0 || l.stops > int(int8(per)) {
		way = 2*way - l.stops*20
	}
	if way < 0 {
		way = -way
	}
	return way*2 + l.stops*9
}

func BenchmarkRide(b *testing.B) {
	lifts := make([]lift, 8)
	total := 0
	for i := 0; i < b.N; i++ {
		total += ride(&lifts[i&7], 3) // want `nothing uses ride\(&lifts\[i & 7\], 3\)`
	}
	_ = total
}
