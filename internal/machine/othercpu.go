package machine

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// This file measures how much processor time other programs used. Their share shows whether they
// disturbed a measurement.

// cpuTimes are processor times since boot, in ticks of the kernel. Two readings show how much other
// programs disturb a measurement. For example, in 100 ticks the processors were busy for 60 and this
// process used 50: the share of other programs is 10 %.
type cpuTimes struct {
	all  int64 // time of all processors, including idle time
	busy int64 // time in which they worked, or another guest of the host used them
	self int64 // time of this process and its descendants; of ended ones, once their parent has waited
}

// readCPUTimes reads the processor times from a proc file system, mounted at proc (Linux,
// Documentation/filesystems/proc.rst). It returns false if there is none.
func readCPUTimes(proc string) (cpuTimes, bool) {
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return cpuTimes{}, false
	}
	var t cpuTimes
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := bytes.Fields(line) // cpu, user, nice, system, idle, iowait, irq, softirq, steal, …
	const idle, wait, steal = 4, 5, 8
	if len(fields) <= steal {
		return cpuTimes{}, false
	}
	for i, f := range fields[1 : steal+1] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return cpuTimes{}, false
		}
		t.all += n
		if i+1 != idle && i+1 != wait {
			t.busy += n
		}
	}
	t.self, err = ownTicks(proc, os.Getpid())
	return t, err == nil
}

// ownTicks returns the processor time of the process root and all of its descendants.
func ownTicks(proc string, root int) (int64, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return 0, err
	}
	children := map[int][]int{} // pids by parent
	used := map[int]int64{}     // ticks by pid
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(proc, e.Name(), "stat"))
		if err != nil {
			continue // the process has ended
		}
		parent, ticks := parseProcessStat(stat)
		children[parent] = append(children[parent], pid)
		used[pid] = ticks
	}
	var sum int64
	for tree := []int{root}; len(tree) > 0; {
		pid := tree[len(tree)-1]
		tree = append(tree[:len(tree)-1], children[pid]...)
		sum += used[pid]
	}
	return sum, nil
}

// parseProcessStat returns the parent of a process and its processor time in ticks, or 0 for what it
// cannot parse. The time includes children that the process has waited for.
func parseProcessStat(stat []byte) (parent int, ticks int64) {
	// The second field is a name in parentheses, which may contain parentheses.
	_, rest, _ := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	fields := bytes.Fields(rest)                      // the first is field 3, the state
	const ppid, utime, cstime = 4 - 3, 14 - 3, 17 - 3 // fields 4, 14 and 17 of proc_pid_stat(5)
	if len(fields) <= cstime {
		return 0, 0
	}
	parent, _ = strconv.Atoi(string(fields[ppid]))
	for _, f := range fields[utime : cstime+1] {
		n, _ := strconv.ParseInt(string(f), 10, 64)
		ticks += n
	}
	return parent, ticks
}

// otherShare returns the share of all processors' time that other programs used between two readings.
func otherShare(before, after cpuTimes) float64 {
	all := after.all - before.all
	if all <= 0 {
		return 0
	}
	return max(0, float64(after.busy-before.busy-(after.self-before.self))/float64(all))
}
