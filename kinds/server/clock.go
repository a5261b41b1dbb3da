package server

import (
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// clock reads from outside what a server uses of its processors: user and
// system time of all its processes, and how long they waited to run.
type clock struct{ process process }

// reading is what the clock says, by process. Empty where there is no clock.
type reading struct {
	cpu    map[int]time.Duration
	waited map[int]time.Duration // empty where the system does not tell
}

// processes are those to read. Looking for them is slow and reading is not, so
// that is done before, and a process that is born meanwhile is not in.
func (c *clock) processes() []int {
	if c == nil {
		return nil
	}
	return c.process.PIDs()
}

// before reads what measuring begins with: the slower reading first.
func (c *clock) before(pids []int) (r reading) {
	if c == nil {
		return r
	}
	r.waited = all(pids, machine.RunQueueWait)
	r.cpu = all(pids, machine.CPUTime)
	return r
}

// after reads what it ends with: the slower reading last.
func (c *clock) after(pids []int) (r reading) {
	if c == nil {
		return r
	}
	r.cpu = all(pids, machine.CPUTime)
	r.waited = all(pids, machine.RunQueueWait)
	return r
}

func all(pids []int, of func(pid int) (time.Duration, bool)) map[int]time.Duration {
	now := make(map[int]time.Duration, len(pids))
	for _, pid := range pids {
		if d, ok := of(pid); ok {
			now[pid] = d
		}
	}
	return now
}

// used is what a server used of its processors for a while.
type used struct {
	cpu    time.Duration
	waited time.Duration // ready to run, without a processor
}

// since is what was used from before to r, by the processes that are in both.
func (r reading) since(before reading) used {
	return used{between(before.cpu, r.cpu), between(before.waited, r.waited)}
}

func between(before, after map[int]time.Duration) time.Duration {
	var sum time.Duration
	for pid, d := range after {
		if was, ok := before[pid]; ok {
			sum += max(0, d-was)
		}
	}
	return sum
}
