package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare"
)

// Gauge measures the load of the machine other than the measurement, between StartGauge and Stop.
type Gauge struct {
	began     time.Time
	pressure  time.Duration            // total at the beginning; negative if unknown
	throttled map[string]time.Duration // total at the beginning, by file
}

// StartGauge reads the machine's counters.
func StartGauge() *Gauge {
	return &Gauge{began: time.Now(), pressure: cpuPressure("/proc/pressure/cpu"), throttled: readThrottled()}
}

// Stop reads the counters again and returns the shares of the time in
// between. It may be called more than once; each call covers the time since
// the start. RunQueueWait is always negative: it is known per contender
// ([RunQueueWait]), not for the machine.
func (g *Gauge) Stop() tare.Noise {
	wall := time.Since(g.began)
	return tare.Noise{
		CPUPressure:  growthShare(g.pressure, cpuPressure("/proc/pressure/cpu"), wall),
		RunQueueWait: -1,
		Throttled:    largestShare(g.throttled, readThrottled(), wall),
	}
}

// largestShare returns the largest share by which one of the counters grew: each group has its own.
func largestShare(before, after map[string]time.Duration, wall time.Duration) float64 {
	most := -1.0
	for file, then := range before {
		if now, ok := after[file]; ok {
			most = max(most, growthShare(then, now, wall))
		}
	}
	return most
}

// growthShare returns the part of wall by which a counter grew. It is negative if either reading is
// missing.
func growthShare(before, after, wall time.Duration) float64 {
	if before < 0 || after < before || wall <= 0 {
		return -1
	}
	// The counters are kept in steps, so a short span can seem overfull.
	return min(1, float64(after-before)/float64(wall))
}

// cpuPressure returns how long some task has waited for a processor since the machine started, from
// the "some" line of a pressure file (Linux, Documentation/accounting/psi.rst). It is negative if
// the kernel does not count that.
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

// readThrottled returns how long a CPU quota has stopped this process's groups, by file. The quota
// may be set on any enclosing group, so it reads all ancestors; a figure is of one group only
// (Linux, Documentation/scheduler/sched-bwc.rst). It is empty if the kernel does not count that.
func readThrottled() map[string]time.Duration {
	own, err := ownGroups()
	if err != nil {
		return nil
	}
	return readThrottledIn(own)
}

func readThrottledIn(own groups) map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, g := range []groupDir{own.unified, own.cpu} {
		if g.dir == "" {
			continue
		}
		for dir := g.dir; ; dir = filepath.Dir(dir) {
			file := filepath.Join(dir, "cpu.stat")
			if d := statThrottled(file); d >= 0 {
				all[file] = d
			}
			if dir == g.mount || !strings.HasPrefix(dir, g.mount) {
				break
			}
		}
	}
	return all
}

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

// readStat reads a file of "name value" lines.
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
