package judge

import (
	"strings"

	"github.com/tarebench/tare/internal/format"
)

// formatLevel formats a confidence level: 0.95 is "95 %", 0.991667 is "99.17 %".
func formatLevel(level float64) string {
	return format.Trimmed(level*100, format.Decimals(100*(1-level))) + " %"
}

// formatValue formats a value with its unit: 1.23e6 and ns/op is "1.23 ms/op". It scales only ns and B.
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
			return format.Significant(x/u.scale) + " " + u.name + per
		}
	}
	return format.Significant(x) + " " + unit
}

// groupThousands returns "81,234" for "81234".
func groupThousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
