package cmdenv

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

const rateHint = "operations per second, e.g. 1000/s, 2k/s or 1.5M/s; /m is per minute"

var ratePattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kM]?)(/s|/m|)$`)

// RateFlag is --at: how often a service executes the operation, per second.
type RateFlag struct{ Text string }

// Rate returns the rate, or 0 if it is not set.
func (f RateFlag) Rate() (float64, error) {
	if f.Text == "" {
		return 0, nil
	}
	wrong := Usage(fmt.Sprintf("--at %q is not a rate", f.Text), rateHint)
	m := ratePattern.FindStringSubmatch(f.Text)
	if m == nil {
		return 0, wrong
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil { // more digits than a float64 has room for
		return 0, wrong
	}
	switch m[2] {
	case "k":
		x *= 1e3
	case "M":
		x *= 1e6
	}
	if m[3] == "/m" {
		x /= 60
	}
	if x <= 0 || math.IsInf(x, 0) {
		return 0, Usage(fmt.Sprintf("--at %q is no rate above zero", f.Text), rateHint)
	}
	return x, nil
}
