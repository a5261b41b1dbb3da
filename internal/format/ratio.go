package format

import (
	"fmt"
	"math"
	"strconv"
)

// Ratio returns a ratio for a table, with three decimals. Large ratios get fewer decimals, small ones more. It
// returns Nothing unless x is positive and finite.
func Ratio(x float64) string {
	switch {
	case !(x > 0) || math.IsInf(x, 1): // !(x > 0) includes NaN
		return Nothing
	case x >= 100:
		return Grouped(x, 0)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case x < 0.01:
		return strconv.FormatFloat(x, 'f', max(0, 1-int(math.Floor(math.Log10(x)))), 64)
	case x < 0.1:
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// Times returns a ratio for a sentence, with two significant digits: 1.94 is "1.9×", 12.3 is "12×".
func Times(x float64) string { return strconv.FormatFloat(x, 'f', Decimals(x), 64) + "×" }

// Short returns a ratio for a sentence, without ×: 0.40, 12.3, 0.052.
func Short(x float64) string {
	switch {
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case x > 0 && x < 0.1:
		return strconv.FormatFloat(x, 'f', Decimals(x), 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// Factor returns Short(x) with ×: 0.40×.
func Factor(x float64) string { return Short(x) + "×" }

// Within returns a ratio with its interval: 0.40× (0.38–0.42).
func Within(ratio, low, high float64) string {
	return Factor(ratio) + " (" + Interval(Short(low), Short(high)) + ")"
}

// Headline returns a ratio for a headline or a drawing, without ×: 0.40, 12, 0.052.
func Headline(x float64) string {
	switch {
	case !(x > 0) || math.IsInf(x, 1):
		return Nothing
	case x >= 10:
		return Grouped(x, 0)
	case x >= 0.1:
		return Fixed(x, 2)
	}
	return Digits(x, 2)
}

// Limit returns a limit or a published ratio like Headline, but without trailing zeros.
func Limit(x float64) string { return trimZeros(Headline(x)) }

// Part returns one factor of a difference, with three significant digits. It returns Nothing unless x is positive
// and finite.
func Part(x float64) string {
	if !(x > 0) || math.IsInf(x, 0) {
		return Nothing
	}
	return Digits(x, 3) + "×"
}

// Plain returns a published or exact ratio, with at most three significant digits.
func Plain(x float64) string { return Significant(x) + "×" }

// Counted returns a ratio of counts for a table. It has four decimals, because counts vary less than
// times.
func Counted(x float64) string { return Fixed(x, 4) }

// Change returns a ratio as a signed change in per cent: 0.958 is "-4.2 %".
func Change(ratio float64, decimals int) string {
	// A change below half of the last decimal rounds to 0, which has no sign.
	if math.Abs(ratio-1) < 0.005*math.Pow10(-decimals) {
		return "±" + Fixed(0, decimals) + " %"
	}
	return fmt.Sprintf("%+.*f %%", decimals, 100*(ratio-1))
}

// Estimate returns a ratio and its interval, with decimals that fit the width of the interval. 0.5234, 0.51 and
// 0.5368 become 0.52, 0.51 and 0.54. edges are ratios that change the meaning of the sentence. Rounding must not
// move a bound across an edge.
func Estimate(ratio, lo, hi float64, edges ...float64) (r, l, h string) {
	const maxDecimals = 5
	decimals := 2
	if width := hi - lo; width > 0 {
		decimals = int(math.Ceil(-math.Log10(width))) // decimals up to the first significant digit of the width
	} else if ratio != math.Trunc(ratio*100)/100 { // an exact ratio with more than two decimals
		decimals = 3
	}
	decimals = min(max(decimals, minDecimals(ratio)), maxDecimals)
	for decimals < maxDecimals && CrossesEdge(lo, hi, decimals, edges) {
		decimals++
	}
	return Fixed(ratio, decimals), Fixed(lo, decimals), Fixed(hi, decimals)
}

// minDecimals returns the least number of decimals of a printed ratio. Small ratios have 4, so that a reader can
// invert them: 0.0157 is 64 times as fast.
func minDecimals(ratio float64) int {
	switch {
	case ratio >= 0.01 && ratio < 0.1:
		return 4
	case ratio >= 100:
		return 0
	case ratio >= 10:
		return 1
	}
	return 2
}

// CrossesEdge reports whether rounding moves a bound across an edge, or from above onto it.
func CrossesEdge(lo, hi float64, decimals int, edges []float64) bool {
	for _, x := range []float64{lo, hi} {
		rounded, _ := strconv.ParseFloat(Fixed(x, decimals), 64)
		for _, e := range edges {
			changesSide := x != e && (rounded < e) != (x < e)
			fallsOnto := x > e && rounded == e
			if changesSide || fallsOnto {
				return true
			}
		}
	}
	return false
}
