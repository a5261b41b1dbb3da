package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// nothing is printed if there is no figure.
const nothing = format.Nothing

// exactly prints a ratio on which every round agreed to the last digit.
func exactly(x float64) string {
	if x == 1 {
		return "1 exactly"
	}
	return format.Ratio(x) + " exactly"
}

// interval prints a ratio's interval, or that there is none yet.
func interval(low, high float64) string {
	if !(low > 0) || !(high > 0) || math.IsInf(high, 1) {
		return "[no interval yet]"
	}
	return "[" + format.Ratio(low) + ", " + format.Ratio(high) + "]"
}

// percent prints a share: 0.012 is 1.2 %.
func percent(share float64) string {
	x := share * 100
	switch {
	case x != 0 && math.Abs(x) < 0.1:
		return significant(x, 1) + " %"
	case math.Abs(x) < 10 && x != math.Trunc(x):
		return fixed(x, 1) + " %"
	}
	return fixed(x, 0) + " %"
}

// level prints a confidence: 0.95 is 95 %, 0.999 is 99.9 %.
func level(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e4)/1e2, 'f', -1, 64) + " %"
}

// scale is how one column of figures is printed: divided, with a unit in the
// column's header and the same number of decimals in every row.
type scale struct {
	divisor  float64
	unit     string
	decimals int
}

// scaleFor chooses the scale in which the smallest of values has three or
// four significant digits. Only times are scaled, and amounts of memory above a
// megabyte: other bytes and counts are read to the last digit.
func scaleFor(unit string, values []float64) scale {
	least := math.Inf(1)
	for _, v := range values {
		if v > 0 && v < least {
			least = v
		}
	}
	s := scale{divisor: 1, unit: unit}
	if rest, ok := strings.CutPrefix(unit, "ns"); ok && !math.IsInf(least, 1) {
		for _, step := range []scale{{1e9, "s", 0}, {1e6, "ms", 0}, {1e3, "µs", 0}} {
			if least >= step.divisor {
				s.divisor, s.unit = step.divisor, step.unit+rest
				break
			}
		}
	}
	if unit == "B" && least >= 1e6 && !math.IsInf(least, 1) {
		return scale{divisor: 1e6, unit: "MB", decimals: 1}
	}
	switch x := least / s.divisor; {
	case whole(values, s.divisor):
		s.decimals = 0
	case !strings.HasPrefix(unit, "ns") && x < 100:
		s.decimals = 1 // a count that is not whole is an average
	case !strings.HasPrefix(unit, "ns"):
		s.decimals = 0
	case x < 10:
		s.decimals = 3
	case x < 100:
		s.decimals = 2
	case x < 1000:
		s.decimals = 1
	}
	return s
}

// whole reports whether every value is a whole number of divisors.
func whole(values []float64, divisor float64) bool {
	for _, v := range values {
		if x := v / divisor; x != math.Trunc(x) {
			return false
		}
	}
	return true
}

// print shows v in the scale; a value too small for its decimals keeps two
// significant digits.
func (s scale) print(v float64) string {
	x := v / s.divisor
	if x > 0 && x < 5*math.Pow10(-s.decimals) && x != math.Trunc(x) {
		return significant(x, 2)
	}
	return format.Grouped(x, s.decimals)
}

// metricNamed finds a metric by the name studies use or by its document key.
func metricNamed(name string) tare.Metric {
	for _, m := range tare.Metrics() {
		if m.Name == name || m.Key == name {
			return m
		}
	}
	return tare.Metric{Name: name}
}

func fixed(x float64, decimals int) string { return strconv.FormatFloat(x, 'f', decimals, 64) }

// significant prints x with n significant digits and without an exponent.
func significant(x float64, n int) string {
	if x == 0 {
		return "0"
	}
	digits := n - 1 - int(math.Floor(math.Log10(math.Abs(x))))
	return fixed(x, max(digits, 0))
}

// memory prints an amount of memory: 200 MB, 512 MiB.
func memory(bytes int64) string {
	switch {
	case bytes >= 1<<20 && bytes%(1<<20) == 0:
		return format.Grouped(float64(bytes>>20), 0) + " MiB"
	case bytes >= 1e6:
		return strings.TrimSuffix(format.Grouped(float64(bytes)/1e6, 1), ".0") + " MB"
	}
	return format.Grouped(float64(bytes), 0) + " B"
}

// perSecond prints a rate with three significant digits, as sentences do.
func perSecond(rate float64) string {
	switch {
	case !(rate > 0) || math.IsInf(rate, 1):
		return nothing
	case rate < 100:
		return significant(rate, 3)
	}
	unit := math.Pow(10, math.Floor(math.Log10(rate))-2)
	return format.Grouped(math.Round(rate/unit)*unit, 0)
}

// asRate prints a rate as it was asked for.
func asRate(rate float64) string {
	if rate == math.Trunc(rate) {
		return format.Grouped(rate, 0)
	}
	return number(rate)
}

// plural prints a count with its noun: 1 round, 2 rounds.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return format.Grouped(float64(n), 0) + " " + noun
}
