package machine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeTree writes files below a new directory and returns the directory.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLookPower(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		found bool
		note  string
	}{
		{map[string]string{"AC/type": "Mains\n", "AC/online": "1\n", "BAT0/type": "Battery\n", "BAT0/status": "Charging\n"}, true, "mains"},
		{map[string]string{"AC/type": "Mains\n", "AC/online": "0\n", "BAT0/type": "Battery\n", "BAT0/status": "Discharging\n"}, true, "battery"},
		{map[string]string{"BAT0/type": "Battery\n", "BAT0/status": "Discharging\n"}, true, "battery"},
		{map[string]string{"AC0/type": "Mains\n", "AC0/online": "1\n", "AC1/type": "Mains\n", "AC1/online": "0\n"}, true, "mains"},
		{map[string]string{"mouse/type": "USB\n"}, false, "none to ask"},
		{nil, false, "none to ask"},
	} {
		if found, note := probePower(writeTree(t, c.files)); found != c.found || !strings.HasPrefix(note, c.note) {
			t.Errorf("%v: %v %q, want %v %q", c.files, found, note, c.found, c.note)
		}
	}
}

func TestLookCores(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		found bool
		note  string
	}{
		{map[string]string{"cpu0/cpu_capacity": "1024\n", "cpu1/cpu_capacity": "1024\n"}, true, "one"},
		{map[string]string{"cpu0/cpu_capacity": "1024\n", "cpu1/cpu_capacity": "446\n"}, true, "2; "},
		{map[string]string{"cpu0/cpufreq/cpuinfo_max_freq": "5000000\n", "cpu1/cpufreq/cpuinfo_max_freq": "3900000\n"}, true, "2; "},
		{map[string]string{"cpu0/online": "1\n", "cpu1/online": "1\n"}, false, "not told"},
		{nil, false, "not told"},
	} {
		if found, note := probeCores(writeTree(t, c.files)); found != c.found || !strings.HasPrefix(note, c.note) {
			t.Errorf("%v: %v %q, want %v %q", c.files, found, note, c.found, c.note)
		}
	}
}

func TestPinned(t *testing.T) {
	all, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1]
	var inside []int
	failed := errors.New("not started")
	if err := Pinned([]int{last}, func() error {
		inside, _ = allowedCPUs()
		return failed
	}); err != failed {
		t.Errorf("got %v, want what start returned", err)
	}
	if !slices.Equal(inside, []int{last}) {
		t.Errorf("processors %v while starting, want %d", inside, last)
	}
	for range 20 { // no thread is left with fewer processors
		done := make(chan []int)
		go func() { now, _ := allowedCPUs(); done <- now }()
		if now := <-done; !slices.Equal(now, all) {
			t.Errorf("processors %v afterwards, before %v", now, all)
		}
	}
	for _, cpu := range []int{-1, 8191, 9999} {
		if err := Pinned([]int{cpu}, func() error { t.Error("started"); return nil }); err == nil {
			t.Errorf("tied to processor %d", cpu)
		}
	}
}

func TestList(t *testing.T) {
	for want, cpus := range map[string][]int{"": nil, "3": {3}, "0-3": {0, 1, 2, 3}, "0-1,4,6-7": {0, 1, 4, 6, 7}} {
		if got := formatRanges(cpus); got != want {
			t.Errorf("%v: %q, want %q", cpus, got, want)
		}
	}
}
