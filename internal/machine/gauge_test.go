package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCPUPressure(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"some avg10=2.02 avg60=10.73 avg300=15.80 total=121099787\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n": 121099787 * time.Microsecond,
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n":                                                           0,
		"full avg10=0.00 total=7\n":  -1,
		"some avg10=0.00 total=x\n":  -1,
		"":                           -1,
		"some":                       -1,
		"some avg10=1 avg60=2 tot=3": -1,
	} {
		if got := cpuPressure(writeFile(t, "cpu", text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if got := cpuPressure(filepath.Join(t.TempDir(), "absent")); got != -1 {
		t.Errorf("without a file: %v", got)
	}
}

func TestThrottled(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"usage_usec 5\nnr_throttled 3\nthrottled_usec 1500\n":       1500 * time.Microsecond,
		"nr_periods 9\nnr_throttled 3\nthrottled_time 2000000000\n": 2 * time.Second,
		"usage_usec 5\n": -1,
		"":               -1,
	} {
		if got := statThrottled(writeFile(t, "cpu.stat", text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// A group that was throttled long ago hides nothing of the one below it.
func TestThrottledBelowAnother(t *testing.T) {
	mount := t.TempDir()
	own := groups{unified: groupDir{dir: filepath.Join(mount, "slice", "own"), mount: mount}}
	if err := os.MkdirAll(own.unified.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	throttle := func(dir string, seconds int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "cpu.stat"), fmt.Appendf(nil, "throttled_usec %d\n", seconds*1e6), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	throttle(filepath.Dir(own.unified.dir), 100)
	throttle(own.unified.dir, 0)
	before := readThrottledIn(own)
	throttle(own.unified.dir, 5)
	if got := largestShare(before, readThrottledIn(own), 10*time.Second); got != 0.5 {
		t.Errorf("%v of the time, want 0.5", got)
	}
	if got := largestShare(nil, readThrottledIn(own), 10*time.Second); got != -1 {
		t.Errorf("%v where none was kept, want -1", got)
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		before, after, wall time.Duration
		want                float64
	}{
		{100, 350, 1000, 0.25},
		{0, 0, 1000, 0},
		{0, 1200, 1000, 1}, // counted in coarse steps
		{-1, 10, 1000, -1}, // not known at the beginning
		{10, -1, 1000, -1}, // nor at the end
		{10, 5, 1000, -1},  // another counter than before
		{0, 1, 0, -1},
	} {
		if got := growthShare(c.before, c.after, c.wall); got != c.want {
			t.Errorf("%d to %d in %d: %v, want %v", c.before, c.after, c.wall, got, c.want)
		}
	}
}

func TestGauge(t *testing.T) {
	g := StartGauge()
	time.Sleep(20 * time.Millisecond)
	n := g.Stop()
	for name, share := range map[string]float64{"pressure": n.CPUPressure, "throttled": n.Throttled} {
		if share != -1 && (share < 0 || share > 1) {
			t.Errorf("%s %v is no share", name, share)
		}
	}
	if n.RunQueueWait != -1 {
		t.Errorf("run-queue wait %v, though nobody knows", n.RunQueueWait)
	}
	if cpuPressure("/proc/pressure/cpu") >= 0 && n.CPUPressure < 0 {
		t.Error("the pressure was not recorded")
	}
}
