package globals_changed

import "testing"

func TestNarrowWindow(t *testing.T) {
	Window = 2 // want `TestNarrowWindow sets Window and does not restore it; BenchmarkAverage reads it in newRing`
	if average([]float64{1, 2, 3}) == 0 {
		t.Fatal("no average")
	}
}

func restoreDepth() { Depth = 4 }

func TestDepth(t *testing.T) {
	defer restoreDepth()
	Depth = 9
	if average([]float64{1, 2, 3}) == 0 {
		t.Fatal("no average")
	}
}

func BenchmarkAverage(b *testing.B) {
	values := make([]float64, 100)
	for b.Loop() {
		average(values)
	}
}
