package cmdenv

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

const rateHint = "operations per second, e.g. 1000/s, 2k/s or 1.5M/s; /m is per minute"

// ratePattern matches a rate such as 1.5M/s or 200.
var ratePattern = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?)([kM]?)(/s|/m|)$`)

// RateFlag is the flag --at: the operations per second of the user's service, for which tare computes
// the costs.
type RateFlag struct{ Text string }

// Rate returns the rate per second, or 0 if the flag is not set.
func (f RateFlag) Rate() (float64, error) {
	if f.Text == "" {
		return 0, nil
	}
	invalid := Usage(fmt.Sprintf("--at %q is not a rate", f.Text), rateHint)
	m := ratePattern.FindStringSubmatch(f.Text)
	if m == nil {
		return 0, invalid
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil { // the number is too large for a float64
		return 0, invalid
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
		return 0, Usage(fmt.Sprintf("--at %q is not a positive rate", f.Text), rateHint)
	}
	return x, nil
}

// Share parses the value of a flag that is a share of 0 or more: 5% is 0.05.
func Share(flag, text string) (float64, error) { return ShareFrom(0, flag, text) }

// ShareFrom parses the value of a flag that is a share of at least minPercent per cent, which may be
// negative.
func ShareFrom(minPercent float64, flag, text string) (float64, error) {
	number, hasPercent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	isInRange := x >= minPercent && !math.IsInf(x, 0) // false for NaN
	if err != nil || !hasPercent || !isInRange {
		return 0, Usage(fmt.Sprintf("--%s %q is not a share", flag, text), "e.g. 5%")
	}
	return x / 100, nil
}
