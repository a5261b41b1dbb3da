package machine

import (
	"os"
	"strconv"
	"strings"
)

// Available is how much memory can be had without pushing out what others use,
// in bytes, as the kernel estimates it. False where it does not say.
func Available() (int64, bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	return available(string(b))
}

// available reads it off the kernel's table.
func available(table string) (int64, bool) {
	for line := range strings.Lines(table) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
