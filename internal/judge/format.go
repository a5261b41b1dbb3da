package judge

import (
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/format"
)

// formatInterval formats a ratio and its interval with as many decimals as the width of the interval
// justifies. It adds decimals if rounding would move a bound across one of edges, the ratios at which
// the meaning of the sentence changes.
func formatInterval(ratio, lo, hi float64, edges ...float64) (r, l, h string) {
	decimals := 2
	if width := hi - lo; width > 0 {
		decimals = int(math.Ceil(-math.Log10(width)))
	} else if ratio != math.Trunc(ratio*100)/100 {
		decimals = 3
	}
	decimals = min(max(decimals, minDecimals(ratio)), 5)
	for decimals < 5 && crossesEdge(lo, hi, decimals, edges) {
		decimals++
	}
	return formatFixed(ratio, decimals), formatFixed(lo, decimals), formatFixed(hi, decimals)
}

// minDecimals returns the least number of decimals of a printed ratio: 2 below 10, 1 below 100,
// else 0.
func minDecimals(ratio float64) int {
	switch {
	case ratio >= 100:
		return 0
	case ratio >= 10:
		return 1
	}
	return 2
}

// crossesEdge reports whether rounding moves a bound to the other side of an edge, or from above
// onto the edge.
func crossesEdge(lo, hi float64, decimals int, edges []float64) bool {
	for _, x := range []float64{lo, hi} {
		rounded, _ := strconv.ParseFloat(formatFixed(x, decimals), 64)
		for _, e := range edges {
			if x != e && (rounded < e) != (x < e) || x > e && rounded == e {
				return true
			}
		}
	}
	return false
}

func formatFixed(x float64, decimals int) string { return strconv.FormatFloat(x, 'f', decimals, 64) }

// formatLevel formats a confidence level: 0.95 is "95 %", 0.991667 is "99.17 %".
func formatLevel(level float64) string {
	return format.Trimmed(level*100, format.Decimals(100*(1-level))) + " %"
}

// formatValue formats a value with its unit. Nanoseconds and bytes are scaled, e.g. to ms or kB;
// other units are not.
func formatValue(x float64, unit string) string {
	base, per, found := strings.Cut(unit, "/")
	if found {
		per = "/" + per
	}
	for _, u := range []struct {
		base  string
		scale float64
		name  string
	}{{"ns", 1e9, "s"}, {"ns", 1e6, "ms"}, {"ns", 1e3, "µs"}, {"B", 1e9, "GB"}, {"B", 1e6, "MB"}, {"B", 1e3, "kB"}} {
		if u.base == base && x >= u.scale {
			return formatSignificant(x/u.scale) + " " + u.name + per
		}
	}
	return formatSignificant(x) + " " + unit
}

// formatSignificant returns x with three significant digits, or without decimals if it is large.
func formatSignificant(x float64) string {
	if x == 0 {
		return "0"
	}
	return format.Trimmed(x, min(max(0, 2-int(math.Floor(math.Log10(math.Abs(x))))), 6))
}

// groupThousands returns a count with its thousands separated: 81234 is "81,234".
func groupThousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
