package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file prints numbers for people.

// noValue is printed in place of a value that is unknown or does not exist.
const noValue = format.Nothing

// formatExact prints a ratio that was the same in every round.
func formatExact(x float64) string {
	if x == 1 {
		return "1 exactly"
	}
	return format.Ratio(x) + " exactly"
}

// formatInterval prints the interval of a ratio, "[0.69, 0.73]", or that there is none yet.
func formatInterval(low, high float64) string {
	isBounded := low > 0 && high > 0 && !math.IsInf(high, 1)
	if !isBounded {
		return "[no interval yet]"
	}
	return "[" + format.Ratio(low) + ", " + format.Ratio(high) + "]"
}

// formatPercent prints a share: 0.012 is 1.2 %. It has a decimal below 10 %, and one significant digit below 0.1 %.
func formatPercent(share float64) string {
	x := share * 100
	switch {
	case x != 0 && math.Abs(x) < 0.1:
		return format.Digits(x, 1) + " %"
	case math.Abs(x) < 10 && x != math.Trunc(x):
		return format.Fixed(x, 1) + " %"
	}
	return format.Fixed(x, 0) + " %"
}

// formatLevel prints a confidence level: 0.95 is 95 %, 0.999 is 99.9 %.
func formatLevel(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e4)/1e2, 'f', -1, 64) + " %"
}

// scale defines how a column of numbers is printed: each is divided by divisor and has the same number of decimals.
// The header of the column has the unit.
type scale struct {
	divisor  float64
	unit     string
	decimals int
}

// newScale returns the scale in which the smallest of values has three or four significant digits. unit is the unit
// of values, such as ns/op. Only times are scaled, and amounts of memory (B) that are all a megabyte or more, because
// users read other bytes and counts to the last digit. Values that are not above 0 are ignored.
func newScale(unit string, values []float64) scale {
	least := math.Inf(1)
	for _, v := range values {
		if v > 0 && v < least {
			least = v
		}
	}
	s := scale{divisor: 1, unit: unit}
	perUnit, isTime := strings.CutPrefix(unit, "ns") // "/op" of ns/op
	if isTime && !math.IsInf(least, 1) {
		for _, step := range []scale{{divisor: 1e9, unit: "s"}, {divisor: 1e6, unit: "ms"}, {divisor: 1e3, unit: "µs"}} {
			if least >= step.divisor {
				s.divisor, s.unit = step.divisor, step.unit+perUnit
				break
			}
		}
	}
	isLargeMemory := unit == "B" && least >= 1e6 && !math.IsInf(least, 1)
	if isLargeMemory {
		return scale{divisor: 1e6, unit: "MB", decimals: 1}
	}
	switch x := least / s.divisor; { // x is the smallest value as it is printed
	case isMultiple(values, s.divisor): // all are printed as integers
		s.decimals = 0
	case !isTime && x < 100:
		s.decimals = 1 // a fractional count is a mean
	case !isTime:
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

// isMultiple reports whether every value is an integer multiple of divisor.
func isMultiple(values []float64, divisor float64) bool {
	for _, v := range values {
		if x := v / divisor; x != math.Trunc(x) {
			return false
		}
	}
	return true
}

// formatValue prints v in the scale. A value that is too small for the decimals of the scale has two significant
// digits instead.
func (s scale) formatValue(v float64) string {
	x := v / s.divisor
	smallest := 5 * math.Pow10(-s.decimals) // 5 units of the last decimal
	if x > 0 && x < smallest && x != math.Trunc(x) {
		return format.Digits(x, 2)
	}
	return format.Grouped(x, s.decimals)
}

// findMetric returns the metric with this name or key in documents. For an unknown name, it returns a metric that
// only has the name.
func findMetric(name string) tare.Metric {
	for _, m := range tare.Metrics() {
		if m.Name == name || m.Key == name {
			return m
		}
	}
	return tare.Metric{Name: name}
}

// formatMemory prints an amount of memory: 200 MB, or 512 MiB if it is a multiple of 1 MiB.
func formatMemory(bytes int64) string {
	switch {
	case bytes >= 1<<20 && bytes%(1<<20) == 0:
		return format.Grouped(float64(bytes>>20), 0) + " MiB"
	case bytes >= 1e6:
		return strings.TrimSuffix(format.Grouped(float64(bytes)/1e6, 1), ".0") + " MB"
	}
	return format.Grouped(float64(bytes), 0) + " B"
}

// formatPerSecond prints a rate with three significant digits, as in sentences.
func formatPerSecond(rate float64) string {
	switch {
	case !(rate > 0) || math.IsInf(rate, 1):
		return noValue
	case rate < 100:
		return format.Digits(rate, 3)
	}
	lastDigit := math.Pow(10, math.Floor(math.Log10(rate))-2) // value of the third significant digit
	return format.Grouped(math.Round(rate/lastDigit)*lastDigit, 0)
}

// formatRate prints a rate as the user wrote it.
func formatRate(rate float64) string {
	if rate == math.Trunc(rate) {
		return format.Grouped(rate, 0)
	}
	return formatNumber(rate)
}

// countNoun prints a count with its noun: 1 round, 2 rounds.
func countNoun(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return format.Grouped(float64(n), 0) + " " + noun
}
