package machine

import (
	"os"
	"strconv"
	"strings"
)

// Available returns the kernel's estimate of the memory that new programs can use without swapping,
// in bytes. ok is false if the kernel has no estimate.
func Available() (bytes int64, ok bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	return parseAvailable(string(b))
}

func parseAvailable(table string) (bytes int64, ok bool) { return meminfoField(table, "MemAvailable") }

// meminfoField returns a field in bytes. table is the text of /proc/meminfo.
func meminfoField(table, name string) (bytes int64, ok bool) {
	for line := range strings.Lines(table) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
