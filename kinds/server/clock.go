package server

import (
	"time"

	"github.com/tarebench/tare/machine"
)

// clock reads the CPU time of a server from outside: user and system of all
// its processes.
type clock struct{ process process }

// reading is what the clock says, by process. Nil where there is no clock.
type reading map[int]time.Duration

// processes are those to read. Looking for them is slow and reading is not, so
// that is done before, and a process that is born meanwhile is not in.
func (c *clock) processes() []int {
	if c == nil {
		return nil
	}
	return c.process.PIDs()
}

func (c *clock) read(pids []int) reading {
	if c == nil {
		return nil
	}
	now := make(reading, len(pids))
	for _, pid := range pids {
		if d, ok := machine.CPUTime(pid); ok {
			now[pid] = d
		}
	}
	return now
}

// since is the CPU time from before to r, of the processes that are in both.
func (r reading) since(before reading) time.Duration {
	var sum time.Duration
	for pid, d := range r {
		if was, ok := before[pid]; ok {
			sum += max(0, d-was)
		}
	}
	return sum
}
