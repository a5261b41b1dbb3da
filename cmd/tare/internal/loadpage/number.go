package loadpage

import (
	"strconv"
	"strings"
)

// Unit is how times of one table are written.
type Unit struct {
	Name     string
	ns       float64
	decimals int
}

// UnitFor is one in which a typical time has some digits before the point.
func UnitFor(ns int64) Unit {
	switch {
	case ns >= 10e9:
		return Unit{"s", 1e9, 3}
	case ns >= 1e6:
		return Unit{"ms", 1e6, 2}
	}
	return Unit{"µs", 1e3, 1}
}

// Format writes a time in ns, without the unit.
func (u Unit) Format(ns float64) string { return Decimal(ns/u.ns, u.decimals) }

// Spell is a time with its unit, three digits.
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

// Decimal is a number with thousands set apart.
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

// Thousands is a rate: whole, or with decimals where it is small.
func Thousands(x float64) string {
	if x < 100 {
		return Decimal(x, 2)
	}
	return Decimal(x, 0)
}

// Counted is a whole number.
func Counted(n int64) string { return Decimal(float64(n), 0) }

// Sized is a number of bytes.
func Sized(n int64) string { return scaled(float64(n), []string{"B", "kB", "MB", "GB", "TB"}) }

// Bits is a rate in bits per second.
func Bits(perSecond float64) string {
	return scaled(perSecond, []string{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"})
}

func scaled(x float64, units []string) string {
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
