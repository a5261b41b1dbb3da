package machine

import (
	"os"
	"strconv"
	"strings"
)

// Available returns the memory that new programs can use without swapping, in bytes. It is the kernel's
// estimate. ok is false if the kernel gives no estimate.
func Available() (bytes int64, ok bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	return parseAvailable(string(b))
}

func parseAvailable(table string) (bytes int64, ok bool) { return meminfoField(table, "MemAvailable") }

// meminfoField returns a field of /proc/meminfo in bytes.
func meminfoField(table, name string) (bytes int64, ok bool) {
	for line := range strings.Lines(table) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
