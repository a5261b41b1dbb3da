package figures

import (
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/format"
)

// formatTime returns a time with three significant digits and a unit that suits it.
func formatTime(s float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}} {
		if s >= u.size*0.9995 {
			return formatNumber(s/u.size) + " " + u.name
		}
	}
	return formatNumber(s/1e-9) + " ns"
}

// formatNumber returns a number with three significant digits, and no exponent.
func formatNumber(x float64) string {
	if x >= 999.5 || x <= -999.5 {
		return format.Grouped(x, 0)
	}
	text := strconv.FormatFloat(x, 'g', 3, 64)
	if strings.Contains(text, "e") {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return text
}

// formatQuantile returns the name of a quantile, e.g. p99.9.
func formatQuantile(q float64) string { return "p" + strconv.FormatFloat(q*100, 'g', 7, 64) }

// formatValue returns a figure as it is written in a finding.
func formatValue(q quantity) string {
	switch q.kind {
	case timeKind:
		return formatTime(q.value)
	case byteKind:
		return formatNumber(q.value) + " B"
	case byteRateKind:
		return formatNumber(q.value) + " B/s"
	case allocKind:
		return formatNumber(q.value) + " allocations"
	case rateKind:
		return formatNumber(q.value) + " per second"
	case percentKind:
		return formatNumber(q.value) + " %"
	}
	return formatNumber(q.value)
}
