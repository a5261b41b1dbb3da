package loadpage

import (
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare/load"
)

// This file formats numbers with units. For example, 46,400 ns is 46.4 µs.

// Unit is the unit of the times in a table.
type Unit struct {
	Name     string
	ns       float64 // nanoseconds in a unit
	decimals int     // decimals of formatted times
}

// UnitFor returns the unit for a table with a typical time of ns: s from 10 s, ms from 1 ms,
// otherwise µs.
func UnitFor(ns int64) Unit {
	switch {
	case ns >= 10e9:
		return Unit{"s", 1e9, 3}
	case ns >= 1e6:
		return Unit{"ms", 1e6, 2}
	}
	return Unit{"µs", 1e3, 1}
}

// Format formats a time in ns, without the unit.
func (u Unit) Format(ns float64) string { return FormatDecimal(ns/u.ns, u.decimals) }

// FormatTime formats a time in ns with its unit, with three significant digits: 46.4 µs.
func FormatTime(ns int64) string {
	u := Unit{Name: "ns", ns: 1}
	for _, larger := range []Unit{{Name: "µs", ns: 1e3}, {Name: "ms", ns: 1e6}, {Name: "s", ns: 1e9}} {
		if float64(ns) >= larger.ns {
			u = larger
		}
	}
	x := float64(ns) / u.ns
	switch {
	case u.ns == 1 || x >= 100: // no decimals
	case x >= 10:
		u.decimals = 1
	default:
		u.decimals = 2
	}
	return FormatDecimal(x, u.decimals) + " " + u.Name
}

// FormatDecimal formats a number with commas between thousands: 1,234.5.
func FormatDecimal(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	integer, fraction, hasFraction := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(integer, "-") {
		sign, integer = "-", integer[1:]
	}
	for i := len(integer) - 3; i > 0; i -= 3 {
		integer = integer[:i] + "," + integer[i:]
	}
	if hasFraction {
		integer += "." + fraction
	}
	return sign + integer
}

// FormatRate formats a rate: without decimals, or with two below 100.
func FormatRate(x float64) string {
	if x < 100 {
		return FormatDecimal(x, 2)
	}
	return FormatDecimal(x, 0)
}

// FormatCount formats an integer.
func FormatCount(n int64) string { return FormatDecimal(float64(n), 0) }

// FormatBytes formats a number of bytes: 16.7 MB.
func FormatBytes(n int64) string {
	return formatScaled(float64(n), []string{"B", "kB", "MB", "GB", "TB"})
}

// FormatBitRate formats a rate in bits per second.
func FormatBitRate(perSecond float64) string {
	return formatScaled(perSecond, []string{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"})
}

// FormatCPU formats the CPU time of one side in seconds, and its part for each request.
func FormatCPU(seconds float64, requests int64) string {
	text := FormatDecimal(seconds, 2) + " s of CPU time"
	if requests > 0 {
		text += ", " + FormatDecimal(seconds*1e6/float64(requests), 1) + " µs per request"
	}
	return text
}

// formatScaled formats x with three significant digits in the largest unit that leaves at least 1. Each
// unit is 1000 of the one before.
func formatScaled(x float64, units []string) string {
	i := 0
	for ; x >= 1000 && i < len(units)-1; i++ {
		x /= 1000
	}
	switch {
	case i == 0 || x >= 100:
		return FormatDecimal(x, 0) + " " + units[i]
	case x >= 10:
		return FormatDecimal(x, 1) + " " + units[i]
	}
	return FormatDecimal(x, 2) + " " + units[i]
}

// DriftName returns the name of the drifting measurement.
func DriftName(d load.Drift) string { return strings.ReplaceAll(d.Of, "_", " ") }

// DescribeDrift returns the change over the run, its interval, and the median over the run: +1.00 ms
// [+500 µs, +1.50 ms] on 20.0 ms.
func DescribeDrift(d load.Drift) string {
	formatAbs := func(x float64) string {
		switch d.Unit {
		case "share":
			return FormatDecimal(x*100, 3) + " %"
		case "bytes":
			return FormatBytes(int64(x))
		}
		return FormatTime(int64(x)) // ns
	}
	formatChange := func(x float64) string {
		sign := ""
		switch {
		case x < 0:
			sign = "−"
		case x > 0:
			sign = "+"
		}
		return sign + formatAbs(math.Abs(x))
	}
	level := formatAbs(math.Abs(d.Level))
	if d.Level < 0 {
		level = "−" + level
	}
	return formatChange(d.Change) + " [" + formatChange(d.Low) + ", " + formatChange(d.High) + "] on " + level
}
