package stats_test

import (
	"fmt"
	"math"

	"github.com/tarebench/tare/stats"
)

// Twelve rounds, each the logarithm of one contender's cost over another's.
func ExampleInterval() {
	effects := []float64{-0.29, -0.31, -0.27, -0.30, -0.12, -0.33, -0.28, -0.29, -0.26, -0.35, -0.30, -0.24}
	lo, hi, _ := stats.Interval(effects, stats.LookLevel(0.05, 7))
	fmt.Printf("ratio %.2f (%.2f to %.2f)\n", math.Exp(stats.HodgesLehmann(effects)), math.Exp(lo), math.Exp(hi))
	// Output: ratio 0.75 (0.73 to 0.81)
}

// A budget of 35 rounds is looked at five times.
func ExampleLooks() {
	looks := stats.Looks(35)
	level := stats.LookLevel(0.05, len(looks))
	fmt.Println(looks)
	fmt.Printf("each at %.4f, from round %d on\n", level, stats.MinRounds(level))
	// Output:
	// [8 12 18 27 35]
	// each at 0.0156, from round 7 on
}

// The first and the third were told apart; the second from neither.
func ExampleLetters() {
	apart := func(i, j int) bool { return i+j == 2 && i != j }
	fmt.Println(stats.Letters(3, apart, nil))
	// Output: [a ab b]
}

// How many rounds will show that −2 % is not 0 %?
func ExampleRoundsNeeded() {
	effects := []float64{-0.05, 0.01, -0.03, 0.02, -0.06, -0.01, -0.04, 0.03, -0.02, 0, -0.05, -0.04}
	level := stats.LookLevel(0.05, 7)
	n, ok := stats.RoundsNeeded(effects, level, 180, 0)
	fmt.Println(n, ok)
	_, ok = stats.RoundsNeeded(effects, level, 20, 0)
	fmt.Println("within 20:", ok)
	// Output:
	// 33 true
	// within 20: false
}
