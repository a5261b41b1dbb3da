package machine

import (
	"runtime"
	"testing"
)

func TestAvailable(t *testing.T) {
	n, ok := Available()
	if runtime.GOOS == "linux" && (!ok || n <= 0 || n > totalMemory()) {
		t.Errorf("available: %d of %d B, %v", n, totalMemory(), ok)
	}
	for table, want := range map[string]int64{
		"MemTotal:       8146956 kB\nMemFree:          206084 kB\nMemAvailable:    4821704 kB\n": 4821704 << 10,
		"MemTotal:       8146956 kB\nMemFree:          206084 kB\n":                              0, // kernels before 3.14
		"MemAvailable:    much kB\n": 0,
		"":                           0,
	} {
		if n, ok := parseAvailable(table); n != want || ok != (want > 0) {
			t.Errorf("%q: %d, %v", table, n, ok)
		}
	}
}
