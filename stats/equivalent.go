package stats

import "math"

// Equivalent reports whether two quantities differ by at most margin, e.g. 0.03 for 3 %. That is so if
// the interval from lo to hi, of the natural logarithm of their ratio, is inside ±ln(1+margin).
//
// Source: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
// approach", J. Pharmacokin. Biopharm. 15 (1987) 657–680.
func Equivalent(lo, hi, margin float64) bool {
	m := math.Log1p(margin)
	return -m <= lo && hi <= m
}
