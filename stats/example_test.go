package stats_test

import (
	"fmt"
	"math"

	"github.com/tarebench/tare/stats"
)

// Twelve rounds said by how much, on the log scale, one program took longer
// than another.
func ExampleInterval() {
	rounds := []float64{0.051, 0.048, 0.060, 0.039, 0.055, 0.047, 0.071, 0.044, 0.050, 0.058, 0.036, 0.049}
	low, high, _ := stats.Interval(rounds, 0.05)
	fmt.Printf("%.3f× (%.3f to %.3f)\n", math.Exp(stats.HodgesLehmann(rounds)), math.Exp(low), math.Exp(high))
	// Output: 1.051× (1.045 to 1.059)
}

// Looking seven times and stopping at the first finding needs a stricter level
// at each look than looking once.
func ExampleLookLevel() {
	fmt.Printf("%.3f %.3f\n", stats.LookLevel(0.05, 1), stats.LookLevel(0.05, 7))
	// Output: 0.050 0.012
}

// Contenders with the same letter do not differ significantly. Here only the first and
// the last were.
func ExampleLetters() {
	distinct := func(i, j int) bool { return min(i, j) == 0 && max(i, j) == 2 }
	fmt.Println(stats.Letters(3, distinct, nil))
	// Output: [a ab b]
}
