package load

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// threadIDs returns the ids of this process's threads, the oldest first, or nil if unknown.
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

// threadWaits returns how long each thread of this process has waited for a processor, by thread id. It
// omits unknown times. It also omits the second thread, the Go runtime's monitor. That thread often waits,
// but no request waits for it.
func threadWaits() map[int]time.Duration {
	const monitor = 1
	all := map[int]time.Duration{}
	for i, tid := range threadIDs() {
		if w := threadWait(tid); w >= 0 && i != monitor {
			all[tid] = w
		}
	}
	return all
}

// threadWait returns how long a thread was runnable and did not run, or a negative value if unknown. It is
// the second field of schedstat (Linux, Documentation/scheduler/sched-stats.rst).
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
