package figures

import (
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/format"
)

// This file formats figures for findings.

// formatTime formats a time in s with three digits, e.g. as 1.23 ms.
func formatTime(s float64) string {
	const roundsToOne = 0.9995 // the least value printed as 1.00
	for _, u := range []struct {
		size float64
		name string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}} {
		if s >= u.size*roundsToOne {
			return formatNumber(s/u.size) + " " + u.name
		}
	}
	return formatNumber(s/1e-9) + " ns"
}

// formatNumber formats a number with three digits, or from 1,000 as an integer.
func formatNumber(x float64) string {
	if x >= 999.5 || x <= -999.5 { // rounded to 1,000
		return format.Grouped(x, 0)
	}
	text := strconv.FormatFloat(x, 'g', 3, 64)
	if strings.Contains(text, "e") {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return text
}

// formatQuantile returns the name of a quantile: p99.9 for 0.999.
func formatQuantile(q float64) string { return "p" + strconv.FormatFloat(q*100, 'g', 7, 64) }

func formatValue(q quantity) string {
	if q.kind == timeKind {
		return formatTime(q.value)
	}
	units := map[kind]string{byteKind: " B", byteRateKind: " B/s", allocKind: " allocations", rateKind: " per second", percentKind: " %"}
	return formatNumber(q.value) + units[q.kind]
}
