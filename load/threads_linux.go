package load

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// threadIDs are those of this process's threads in the order in which they were
// made; nil where they cannot be told.
func threadIDs() []int {
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	tids := make([]int, 0, len(names))
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// threadWaits are how long the threads of this process were ready and did not run,
// as far as that is kept. The second one is the Go runtime's watchman, which wants
// to run every 20 µs and for which nobody waits: where goroutines keep a single
// processor busy it is waiting most of the time, and it is left out.
func threadWaits() map[int]time.Duration {
	const watchman = 1
	all := map[int]time.Duration{}
	for i, tid := range threadIDs() {
		if w := threadWait(tid); w >= 0 && i != watchman {
			all[tid] = w
		}
	}
	return all
}

// threadWait is how long a thread of this process was ready and did not run:
// the second figure of its schedstat (Linux,
// Documentation/scheduler/sched-stats.rst); negative where that is not kept.
func threadWait(tid int) time.Duration {
	b, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(tid) + "/schedstat")
	if err != nil {
		return -1
	}
	f := bytes.Fields(b)
	if len(f) < 2 {
		return -1
	}
	ns, err := strconv.ParseInt(string(f[1]), 10, 64)
	if err != nil {
		return -1
	}
	return time.Duration(ns)
}
