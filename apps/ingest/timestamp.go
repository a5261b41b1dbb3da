package ingest

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Time is when an event happened. JSON has it as seconds since 1970, an integer or a number with a
// fraction or an exponent, or as a text of RFC 3339. It has a precision of nanoseconds.
type Time struct{ time.Time }

var errTimestamp = errors.New("no timestamp")

// UnmarshalJSON leaves null as it is.
func (t *Time) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && (text[0] == '-' || '0' <= text[0] && text[0] <= '9') {
		at, err := parseSeconds(string(text))
		if err != nil {
			return err
		}
		t.Time = at
		return nil
	}
	return t.Time.UnmarshalJSON(text)
}

// parseSeconds parses seconds since 1970, exactly. It looks for an exponent only if the number
// cannot be parsed otherwise: hardly any has one.
func parseSeconds(text string) (time.Time, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	s, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return parseScientific(text)
	}
	ns, scale := int64(0), int64(time.Second)
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
	return time.Unix(s, ns).UTC(), nil
}

// maxExponent bounds the exponent of a number. One with a year of four digits has at most twelve
// digits before its point.
const maxExponent = 40

// parseScientific parses seconds with an exponent, such as 1.46e9, as the same number without one.
func parseScientific(text string) (time.Time, error) {
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		return time.Time{}, errTimestamp
	}
	sign, mantissa := "", text[:at]
	if unsigned, negative := strings.CutPrefix(mantissa, "-"); negative {
		sign, mantissa = "-", unsigned
	}
	exponent, err := strconv.Atoi(text[at+1:])
	if err != nil || mantissa == "" || exponent < -maxExponent || exponent > maxExponent {
		return time.Time{}, errTimestamp
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	point := len(whole) + exponent
	all := strings.Repeat("0", max(0, -point)) + whole + fraction
	point = max(0, point)
	all += strings.Repeat("0", max(0, point-len(all)))
	return parseSeconds(sign + "0" + all[:point] + "." + all[point:])
}
