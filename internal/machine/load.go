package machine

import (
	"os"
	"strconv"
	"strings"
)

// LoadAverage returns the mean number of runnable processes in the last minute. It is negative if
// unknown.
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
