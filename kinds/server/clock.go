package server

import (
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// clock reads from the operating system the CPU time of all processes of a server, and the time that
// they waited for a processor. A nil clock has empty readings.
type clock struct{ process process }

// reading contains the times of each process by pid. It is empty if there is no clock.
type reading struct {
	cpu    map[int]time.Duration // user and system time
	waited map[int]time.Duration // time ready to run without a processor; empty if the system does not report it
}

// listPIDs returns the processes to read. To find them is slow, so this is done before the clock is
// read; processes that start later are not included.
func (c *clock) listPIDs() []int {
	if c == nil {
		return nil
	}
	return c.process.PIDs()
}

// readBefore reads the clock at the start of a measurement. It reads the CPU time last, directly before
// the measurement, because reading it takes less time than reading the waiting times.
func (c *clock) readBefore(pids []int) (r reading) {
	if c == nil {
		return r
	}
	r.waited = readAll(pids, machine.RunQueueWait)
	r.cpu = readAll(pids, machine.CPUTime)
	return r
}

// readAfter reads the clock at the end of a measurement. It reads the CPU time first.
func (c *clock) readAfter(pids []int) (r reading) {
	if c == nil {
		return r
	}
	r.cpu = readAll(pids, machine.CPUTime)
	r.waited = readAll(pids, machine.RunQueueWait)
	return r
}

// readAll calls read for each process. It omits processes for which read returns false.
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

// useSince returns the use between before and r by the processes that are in both readings.
func (r reading) useSince(before reading) cpuUse {
	return cpuUse{cpu: sumGrowth(before.cpu, r.cpu), waited: sumGrowth(before.waited, r.waited)}
}

// sumGrowth returns the sum of the increases over all processes that are in both maps.
func sumGrowth(before, after map[int]time.Duration) time.Duration {
	var sum time.Duration
	for pid, d := range after {
		if earlier, ok := before[pid]; ok {
			sum += max(0, d-earlier)
		}
	}
	return sum
}
