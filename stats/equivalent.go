package stats

import "math"

// Equivalent reports whether an interval of the logarithm of a ratio is inside ±ln(1+margin). The
// two sides then differ by at most margin, e.g. 0.03 for 3 %.
//
// Source: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
// approach", J. Pharmacokin. Biopharm. 15 (1987) 657–680.
func Equivalent(lo, hi, margin float64) bool {
	m := math.Log1p(margin)
	return -m <= lo && hi <= m
}
