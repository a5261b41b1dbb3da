package loadpage

import (
	"math"
	"strings"

	"github.com/tarebench/tare/load"
)

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
