package ingest

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Time is the time of an event, in nanoseconds. In JSON it is a number of seconds since 1970, perhaps with a
// fraction or exponent, or RFC 3339.
type Time struct{ time.Time }

var errTimestamp = errors.New("no timestamp") // the text is not a time

// UnmarshalJSON parses a number or a text. For null it leaves t unchanged.
func (t *Time) UnmarshalJSON(text []byte) error {
	isNumber := len(text) > 0 && strings.IndexByte("-0123456789", text[0]) >= 0
	if !isNumber {
		return t.Time.UnmarshalJSON(text)
	}
	parsed, err := parseSeconds(string(text))
	if err != nil {
		return err
	}
	t.Time = parsed
	return nil
}

// parseSeconds parses seconds since 1970, such as 1460616245.25, without rounding. It drops digits below a
// nanosecond.
func parseSeconds(text string) (time.Time, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return parseScientific(text)
	}
	ns, scale := int64(0), int64(time.Second) // scale is the value of a digit in ns
	for _, c := range []byte(fraction) {
		if c < '0' || c > '9' {
			return parseScientific(text)
		}
		scale /= 10
		ns += int64(c-'0') * scale
	}
	if whole[0] == '-' {
		ns = -ns
	}
	return time.Unix(seconds, ns).UTC(), nil
}

// maxExponent limits the zeros that parseScientific writes. The year 9999 has twelve digits.
const maxExponent = 40

// parseScientific parses seconds with an exponent. It writes the number without the exponent, "01500." for 1.5e3
// and "0.0015" for 1.5e-3, and calls parseSeconds. The 0 at the start is for numbers below 1: parseSeconds needs
// a digit before the point.
func parseScientific(text string) (time.Time, error) {
	e := strings.IndexAny(text, "eE")
	if e < 0 {
		return time.Time{}, errTimestamp
	}
	sign, mantissa := "", text[:e]
	if unsigned, negative := strings.CutPrefix(mantissa, "-"); negative {
		sign, mantissa = "-", unsigned
	}
	exponent, err := strconv.Atoi(text[e+1:])
	isTooLarge := exponent < -maxExponent || exponent > maxExponent
	if err != nil || mantissa == "" || isTooLarge {
		return time.Time{}, errTimestamp
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	point := len(whole) + exponent // digits before the point
	if point < 0 {                 // 1.5e-3: 15 becomes 0015, with the point before it
		digits = strings.Repeat("0", -point) + digits
		point = 0
	}
	if missing := point - len(digits); missing > 0 { // 1.5e3: 15 becomes 1500
		digits += strings.Repeat("0", missing)
	}
	return parseSeconds(sign + "0" + digits[:point] + "." + digits[point:])
}
