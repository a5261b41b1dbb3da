package server

import (
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// clock reads from outside what a server uses of its processors: user and
// system time of all its processes, and how long they waited to run.
type clock struct{ process process }

// reading is a reading of the clock, by process. It is empty if there is no clock.
type reading struct {
	cpu    map[int]time.Duration
	waited map[int]time.Duration // empty if the system does not report it
}

// listPIDs returns the processes to read. Finding them is slow and reading is not, so that is done
// before, and a process that is born meanwhile is not included.
func (c *clock) listPIDs() []int {
	if c == nil {
		return nil
	}
	return c.process.PIDs()
}

// readBefore reads the clock before measuring: the slower reading first.
func (c *clock) readBefore(pids []int) (r reading) {
	if c == nil {
		return r
	}
	r.waited = readAll(pids, machine.RunQueueWait)
	r.cpu = readAll(pids, machine.CPUTime)
	return r
}

// readAfter reads the clock after measuring: the slower reading last.
func (c *clock) readAfter(pids []int) (r reading) {
	if c == nil {
		return r
	}
	r.cpu = readAll(pids, machine.CPUTime)
	r.waited = readAll(pids, machine.RunQueueWait)
	return r
}

func readAll(pids []int, of func(pid int) (time.Duration, bool)) map[int]time.Duration {
	now := make(map[int]time.Duration, len(pids))
	for _, pid := range pids {
		if d, ok := of(pid); ok {
			now[pid] = d
		}
	}
	return now
}

// cpuUse is a server's use of its processors for a while.
type cpuUse struct {
	cpu    time.Duration
	waited time.Duration // ready to run, without a processor
}

// useSince returns the use from before to r, by the processes that are in both.
func (r reading) useSince(before reading) cpuUse {
	return cpuUse{sumGrowth(before.cpu, r.cpu), sumGrowth(before.waited, r.waited)}
}

func sumGrowth(before, after map[int]time.Duration) time.Duration {
	var sum time.Duration
	for pid, d := range after {
		if was, ok := before[pid]; ok {
			sum += max(0, d-was)
		}
	}
	return sum
}
