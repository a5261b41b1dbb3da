package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare"
)

// This file measures how much other programs disturb a measurement. For example, in 10 s some task
// waited for a processor for 1 s: the CPU pressure is 10 %.

// Gauge measures how much other load disturbs the machine between StartGauge and Stop.
type Gauge struct {
	began     time.Time
	pressure  time.Duration            // cpuPressure at the start; negative if unknown
	throttled map[string]time.Duration // readThrottled at the beginning
	times     cpuTimes                 // readCPUTimes at the beginning
	hasTimes  bool
}

// StartGauge starts a measurement: it reads the machine's counters.
func StartGauge() *Gauge {
	times, ok := readCPUTimes("/proc")
	return &Gauge{began: time.Now(), pressure: cpuPressure("/proc/pressure/cpu"), throttled: readThrottled(), times: times, hasTimes: ok}
}

// Stop reads the counters again and returns shares of the time since StartGauge. A negative share is
// unknown. RunQueueWait is always negative, because the function [RunQueueWait] measures it for one
// process. Stop may be called several times.
func (g *Gauge) Stop() tare.Noise {
	wall := time.Since(g.began)
	noise := tare.Noise{
		CPUPressure:  growthShare(g.pressure, cpuPressure("/proc/pressure/cpu"), wall),
		RunQueueWait: -1,
		Throttled:    largestShare(g.throttled, readThrottled(), wall),
	}
	if times, ok := readCPUTimes("/proc"); ok && g.hasTimes {
		share := otherShare(g.times, times)
		noise.OtherCPU = &share
	}
	return noise
}

// largestShare returns the largest growth of a counter as a share of wall, or -1 without counters.
func largestShare(before, after map[string]time.Duration, wall time.Duration) float64 {
	largest := -1.0
	for file, old := range before {
		if latest, ok := after[file]; ok {
			largest = max(largest, growthShare(old, latest, wall))
		}
	}
	return largest
}

// growthShare returns the growth of a counter as a share of wall, or -1 if it is unknown.
func growthShare(before, after, wall time.Duration) float64 {
	if before < 0 || after < before || wall <= 0 {
		return -1
	}
	// The kernel updates the counters in steps, so they can grow by more than a short wall time.
	return min(1, float64(after-before)/float64(wall))
}

// cpuPressure returns the time since boot in which some task waited for a processor, or -1 if unknown.
// It is in the line "some" of a pressure file (Linux, Documentation/accounting/psi.rst).
func cpuPressure(file string) time.Duration {
	b, err := os.ReadFile(file)
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(b)) {
		rest, ok := strings.CutPrefix(line, "some ")
		if !ok {
			continue
		}
		for _, f := range strings.Fields(rest) {
			if v, ok := strings.CutPrefix(f, "total="); ok {
				if us, err := strconv.ParseInt(v, 10, 64); err == nil {
					return time.Duration(us) * time.Microsecond
				}
			}
		}
	}
	return -1
}

// readThrottled returns the time for which a CPU quota has stopped each control group of this process,
// by file. Any group above the process may have a quota, so it reads the files of all of them (Linux,
// Documentation/scheduler/sched-bwc.rst).
func readThrottled() map[string]time.Duration {
	current, err := currentGroups()
	if err != nil {
		return nil
	}
	return readThrottledIn(current)
}

func readThrottledIn(current groups) map[string]time.Duration {
	throttled := map[string]time.Duration{}
	for _, g := range []groupDir{current.unified, current.cpu} {
		if g.dir == "" {
			continue
		}
		for dir := g.dir; ; dir = filepath.Dir(dir) {
			file := filepath.Join(dir, "cpu.stat")
			if d := statThrottled(file); d >= 0 {
				throttled[file] = d
			}
			if dir == g.mount || !strings.HasPrefix(dir, g.mount) {
				break
			}
		}
	}
	return throttled
}

// statThrottled returns the time for which a quota stopped the group of a cpu.stat file, or -1 if
// unknown.
func statThrottled(file string) time.Duration {
	stat, err := readStat(file)
	if err != nil {
		return -1
	}
	if us, ok := stat["throttled_usec"]; ok { // version 2
		return time.Duration(us) * time.Microsecond
	}
	if ns, ok := stat["throttled_time"]; ok { // version 1
		return time.Duration(ns)
	}
	return -1
}

// readStat reads a file with lines of a name and a number. It skips other lines.
func readStat(file string) (map[string]int64, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	stat := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				stat[name] = n
			}
		}
	}
	return stat, nil
}
