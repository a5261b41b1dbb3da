package figures

import (
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/format"
)

// timeText returns a time with three significant digits and a unit that suits it.
func timeText(s float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}} {
		if s >= u.size*0.9995 {
			return number3(s/u.size) + " " + u.name
		}
	}
	return number3(s/1e-9) + " ns"
}

// number3 returns a number with three significant digits, and no exponent.
func number3(x float64) string {
	if x >= 999.5 || x <= -999.5 {
		return format.Grouped(x, 0)
	}
	text := strconv.FormatFloat(x, 'g', 3, 64)
	if strings.Contains(text, "e") {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return text
}

// percentText returns the name of a quantile, e.g. p99.9.
func percentText(q float64) string { return "p" + strconv.FormatFloat(q*100, 'g', 7, 64) }

// valueText returns a figure as it is written in a finding.
func valueText(q quantity) string {
	switch q.kind {
	case timeKind:
		return timeText(q.value)
	case byteKind:
		return number3(q.value) + " B"
	case byteRateKind:
		return number3(q.value) + " B/s"
	case allocKind:
		return number3(q.value) + " allocations"
	case rateKind:
		return number3(q.value) + " per second"
	case percentKind:
		return number3(q.value) + " %"
	}
	return number3(q.value)
}
