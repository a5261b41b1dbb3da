package server

import (
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// clock reads the CPU time of a server's processes, and the time that they waited for a processor.
// A nil clock has empty readings.
type clock struct{ process process }

// reading contains the times of each process by its pid.
type reading struct {
	cpu    map[int]time.Duration // user and system time
	waited map[int]time.Duration // ready to run without a processor; empty if unknown
}

// listPIDs returns the processes to read. It is slow, so it is called before the clock is read.
func (c *clock) listPIDs() []int {
	if c == nil {
		return nil
	}
	return c.process.PIDs()
}

// readBefore reads the clock at the start of a measurement. It reads the CPU time last, directly
// before the measurement, because that takes less time than the waiting times.
func (c *clock) readBefore(pids []int) (r reading) {
	if c == nil {
		return r
	}
	r.waited = readAll(pids, machine.RunQueueWait)
	r.cpu = readAll(pids, machine.CPUTime)
	return r
}

// readAfter reads the clock at the end of a measurement. It reads the CPU time first, directly after
// the measurement.
func (c *clock) readAfter(pids []int) (r reading) {
	if c == nil {
		return r
	}
	r.cpu = readAll(pids, machine.CPUTime)
	r.waited = readAll(pids, machine.RunQueueWait)
	return r
}

func readAll(pids []int, read func(pid int) (time.Duration, bool)) map[int]time.Duration {
	times := make(map[int]time.Duration, len(pids))
	for _, pid := range pids {
		if d, ok := read(pid); ok {
			times[pid] = d
		}
	}
	return times
}

// cpuUse is a server's use of its processors between two readings.
type cpuUse struct {
	cpu    time.Duration // user and system time
	waited time.Duration // time ready to run without a processor
}

// useSince returns the use of the processes that are in both readings.
func (r reading) useSince(before reading) cpuUse {
	return cpuUse{cpu: sumGrowth(before.cpu, r.cpu), waited: sumGrowth(before.waited, r.waited)}
}

func sumGrowth(before, after map[int]time.Duration) time.Duration {
	var sum time.Duration
	for pid, d := range after {
		if earlier, ok := before[pid]; ok {
			sum += max(0, d-earlier)
		}
	}
	return sum
}
