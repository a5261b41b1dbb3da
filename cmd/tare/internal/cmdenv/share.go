package cmdenv

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Share reads the value of a flag that is a share: 5% is 0.05.
func Share(flag, text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	if err != nil || !strings.HasSuffix(text, "%") || x < 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, Usage(fmt.Sprintf("--%s %q is not a share", flag, text), "e.g. 5%")
	}
	return x / 100, nil
}
