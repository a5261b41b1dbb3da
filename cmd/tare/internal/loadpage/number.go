package loadpage

import (
	"strconv"
	"strings"
)

// Unit is the unit of the times in a table.
type Unit struct {
	Name     string
	ns       float64
	decimals int
}

// UnitFor returns the unit in which a typical time has digits before the point.
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
func (u Unit) Format(ns float64) string { return Decimal(ns/u.ns, u.decimals) }

// Spell formats a time in ns with its unit, in three digits.
func Spell(ns int64) string {
	u := Unit{"ns", 1, 0}
	for _, larger := range []Unit{{"µs", 1e3, 0}, {"ms", 1e6, 0}, {"s", 1e9, 0}} {
		if float64(ns) >= larger.ns {
			u = larger
		}
	}
	x := float64(ns) / u.ns
	switch {
	case u.ns == 1 || x >= 100:
	case x >= 10:
		u.decimals = 1
	default:
		u.decimals = 2
	}
	return Decimal(x, u.decimals) + " " + u.Name
}

// Decimal formats a number with commas between thousands.
func Decimal(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	whole, rest, point := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if point {
		whole += "." + rest
	}
	return sign + whole
}

// Thousands formats a rate: without decimals, or with two below 100.
func Thousands(x float64) string {
	if x < 100 {
		return Decimal(x, 2)
	}
	return Decimal(x, 0)
}

// Counted formats an integer.
func Counted(n int64) string { return Decimal(float64(n), 0) }

// Sized formats a number of bytes.
func Sized(n int64) string { return formatScaled(float64(n), []string{"B", "kB", "MB", "GB", "TB"}) }

// Bits formats a rate in bits per second.
func Bits(perSecond float64) string {
	return formatScaled(perSecond, []string{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"})
}

func formatScaled(x float64, units []string) string {
	i := 0
	for ; x >= 1000 && i < len(units)-1; i++ {
		x /= 1000
	}
	switch {
	case i == 0 || x >= 100:
		return Decimal(x, 0) + " " + units[i]
	case x >= 10:
		return Decimal(x, 1) + " " + units[i]
	}
	return Decimal(x, 2) + " " + units[i]
}
