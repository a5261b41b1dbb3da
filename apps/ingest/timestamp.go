package ingest

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Time is when an event happened. JSON has it as seconds since 1970, a whole number
// or one with a fraction, or as a text of RFC 3339. It is kept to the nanosecond.
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

// parseSeconds reads seconds since 1970 without an exponent.
func parseSeconds(text string) (time.Time, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	s, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, errTimestamp
	}
	ns, scale := int64(0), int64(time.Second)
	for _, c := range []byte(fraction) {
		if c < '0' || c > '9' {
			return time.Time{}, errTimestamp
		}
		scale /= 10
		ns += int64(c-'0') * scale
	}
	if whole[0] == '-' {
		ns = -ns
	}
	return time.Unix(s, ns).UTC(), nil
}
