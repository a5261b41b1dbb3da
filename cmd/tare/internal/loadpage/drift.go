package loadpage

import (
	"math"
	"strings"

	"github.com/tarebench/tare/load"
)

// DriftName returns the name of the drifting measurement.
func DriftName(d load.Drift) string { return strings.ReplaceAll(d.Of, "_", " ") }

// DriftText returns the change over the run, with its interval.
func DriftText(d load.Drift) string {
	text := func(x float64, sign bool) string {
		out := ""
		switch {
		case x < 0:
			out = "−"
		case sign && x > 0:
			out = "+"
		}
		x = math.Abs(x)
		switch d.Unit {
		case "share":
			return out + Decimal(x*100, 3) + " %"
		case "bytes":
			return out + Sized(int64(x))
		}
		return out + Spell(int64(x))
	}
	return text(d.Change, true) + " [" + text(d.Low, true) + ", " + text(d.High, true) + "] on " + text(d.Level, false)
}
