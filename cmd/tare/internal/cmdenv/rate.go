package cmdenv

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

const rateHint = "operations per second, e.g. 1000/s, 2k/s or 1.5M/s; /m is per minute"

var rates = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kM]?)(/s|/m|)$`)

// RateFlag is --at: how often a service does the operation, per second.
type RateFlag struct{ Text string }

// Rate is the one that was asked for; zero where none was.
func (f RateFlag) Rate() (float64, error) {
	if f.Text == "" {
		return 0, nil
	}
	wrong := Usage(fmt.Sprintf("--at %q is not a rate", f.Text), rateHint)
	m := rates.FindStringSubmatch(f.Text)
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
