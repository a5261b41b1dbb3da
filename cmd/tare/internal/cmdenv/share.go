package cmdenv

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Share parses the value of a flag that is a share: 5% is 0.05.
func Share(flag, text string) (float64, error) {
	return ShareFrom(0, flag, text)
}

// ShareFrom parses the value of a flag that is a share of at least minPercent per cent.
func ShareFrom(minPercent float64, flag, text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	if err != nil || !strings.HasSuffix(text, "%") || x < minPercent || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, Usage(fmt.Sprintf("--%s %q is not a share", flag, text), "e.g. 5%")
	}
	return x / 100, nil
}
