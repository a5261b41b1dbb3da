package machine

import (
	"os"
	"strconv"
	"strings"
)

// Available returns the kernel's estimate of the memory, in bytes, that new programs can use without
// swapping. It returns false if the kernel has no estimate.
func Available() (bytes int64, ok bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	return parseAvailable(string(b))
}

// parseAvailable returns the value of MemAvailable in the text of /proc/meminfo, in bytes.
func parseAvailable(table string) (bytes int64, ok bool) { return meminfoField(table, "MemAvailable") }

// meminfoField returns the value of a field in the text of /proc/meminfo, in bytes.
func meminfoField(table, name string) (bytes int64, ok bool) {
	for line := range strings.Lines(table) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
