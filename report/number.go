package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file prints numbers for people.

// noValue is printed for an unknown or missing value.
const noValue = format.Nothing

func formatExact(x float64) string {
	if x == 1 {
		return "1 exactly"
	}
	return format.Ratio(x) + " exactly"
}

// formatInterval prints the interval of a ratio, e.g. "[0.69, 0.73]".
func formatInterval(low, high float64) string {
	isBounded := low > 0 && high > 0 && !math.IsInf(high, 1)
	if !isBounded {
		return "[no interval yet]"
	}
	return "[" + format.Ratio(low) + ", " + format.Ratio(high) + "]"
}

// formatPercent prints a share: 0.012 is 1.2 %.
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

// scale defines how a column of numbers is printed. Values are divided by divisor and have equal decimals.
type scale struct {
	divisor  float64
	unit     string
	decimals int
}

// newScale returns the scale for values of a unit such as ns/op. The smallest gets three or four significant
// digits. Only times are scaled, and memory from a megabyte on. Users read other counts to the last digit. Values
// of 0 or less are ignored.
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
	switch x := least / s.divisor; { // x is the smallest printed value
	case isMultiple(values, s.divisor): // all are integers
		s.decimals = 0
	case !isTime && x < 100:
		s.decimals = 1 // a fraction is a mean of counts
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

func isMultiple(values []float64, divisor float64) bool {
	for _, v := range values {
		if x := v / divisor; x != math.Trunc(x) {
			return false
		}
	}
	return true
}

// formatValue prints v in the scale. A very small value has two significant digits instead.
func (s scale) formatValue(v float64) string {
	x := v / s.divisor
	smallest := 5 * math.Pow10(-s.decimals) // 5 units of the last decimal
	if x > 0 && x < smallest && x != math.Trunc(x) {
		return format.Digits(x, 2)
	}
	return format.Grouped(x, s.decimals)
}

// findMetric returns the metric with this name or document key. An unknown name gives a metric with only the name.
func findMetric(name string) tare.Metric {
	for _, m := range tare.Metrics() {
		if m.Name == name || m.Key == name {
			return m
		}
	}
	return tare.Metric{Name: name}
}

// formatMemory prints bytes: 200 MB, or 512 MiB for a multiple of 1 MiB.
func formatMemory(bytes int64) string {
	switch {
	case bytes >= 1<<20 && bytes%(1<<20) == 0:
		return format.Grouped(float64(bytes>>20), 0) + " MiB"
	case bytes >= 1e6:
		return strings.TrimSuffix(format.Grouped(float64(bytes)/1e6, 1), ".0") + " MB"
	}
	return format.Grouped(float64(bytes), 0) + " B"
}

// formatPerSecond prints a rate with three significant digits.
func formatPerSecond(rate float64) string {
	switch {
	case !(rate > 0) || math.IsInf(rate, 1):
		return noValue
	case rate < 100:
		return format.Digits(rate, 3)
	}
	lastDigit := math.Pow(10, math.Floor(math.Log10(rate))-2) // value of the third digit
	return format.Grouped(math.Round(rate/lastDigit)*lastDigit, 0)
}

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
