package globals_changed

// Window is the number of values of an average.
var Window = 16

// Depth limits a search.
var Depth = 4

func newRing() []float64 { return make([]float64, Window) }

func average(values []float64) float64 {
	ring, sum := newRing(), 0.0
	for i, v := range values {
		sum += v - ring[i%len(ring)]
		ring[i%len(ring)] = v
	}
	return sum / float64(len(ring)*Depth)
}
