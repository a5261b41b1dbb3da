package stats

import (
	"math"
	"slices"
)

// This file makes it possible to stop a study early. A look is an interim analysis of its data. If
// each of several looks tested at 5 %, one of them would be wrong more often. So each look tests at
// a stricter level.

const (
	// MaxRounds is the number of rounds at the last look of a study with a budget. A look is an
	// interim analysis.
	MaxRounds = 180
	// LastLook is the number of rounds at the last look of a study that continues until it is decided.
	LastLook = 2000
	// LongRounds is the least number of rounds with longer slices for a conclusion.
	LongRounds = 3
)

// allLooks returns the numbers of rounds of all looks, each about 1.5 times the one before.
func allLooks() []int {
	return []int{8, 12, 18, 27, 40, 60, 80, 120, MaxRounds, 270, 400, 600, 900, 1350, LastLook}
}

// Looks returns the numbers of rounds after which a study of at most rounds rounds looks at its
// data, ascending. These are all regular looks below rounds, and rounds itself, or [LastLook] if
// rounds is larger. It returns nil if rounds is below 1.
func Looks(rounds int) []int {
	rounds = min(rounds, LastLook)
	if rounds < 1 {
		return nil
	}
	s := allLooks()
	i, _ := slices.BinarySearch(s, rounds)
	return append(s[:i], rounds)
}

// LookLevel returns the error level for each look of a study with that number of looks. If every
// look tests at it, the probability of any false rejection is at most alpha. It is the constant
// nominal level of a group-sequential design, from the exact joint distribution of the signed-rank
// statistics.
//
// Levels are tabulated for 5 %/m, m = 1 … 100, and 0.1 %/m, m = 1 … 10. An alpha between two of
// them is rounded down. Without a table the level is alpha/looks (Bonferroni).
//
// The joint distribution assumes that noise is the same in all rounds. If noise grows fourfold, the
// 5 % become 5.5 %, and if it shrinks to a quarter, 4.6 % (100,000 simulated studies each).
//
// Source: S. J. Pocock, "Group sequential methods in the design and analysis of clinical trials",
// Biometrika 64 (1977) 191–199.
func LookLevel(alpha float64, looks int) float64 {
	if looks <= 1 {
		return alpha
	}
	level := alpha / float64(looks)
	for i, row := range lookTable {
		if row.alpha > alpha*(1+rounding) {
			continue
		}
		if looks <= len(row.level) {
			return math.Max(level, row.level[looks-1])
		}
		if later := laterTable[i]; looks <= len(row.level)+len(later) {
			return math.Max(level, later[looks-len(row.level)-1])
		}
		break
	}
	return level
}
