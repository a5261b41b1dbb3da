package machine

import (
	"os"
	"strconv"
	"strings"
)

// LoadAverage is how many processes could run, in the mean of the last minute;
// negative: it is not known.
func LoadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return -1
	}
	first, _, _ := strings.Cut(string(text), " ")
	x, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return -1
	}
	return x
}
