package machine

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// RunQueueWait returns the time for which the threads of a process have been ready to run but not
// running. It is the sum over the threads that exist, because the schedstat of the process covers
// its first thread only. It returns false if the kernel does not report the time.
func RunQueueWait(pid int) (wait time.Duration, ok bool) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return 0, false
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(tasks, e.Name(), "schedstat"))
		if err != nil {
			continue // the thread has ended since
		}
		if f := bytes.Fields(b); len(f) >= 2 { // time on processor, time waiting (ns), slices
			if ns, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil {
				wait += time.Duration(ns)
				ok = true
			}
		}
	}
	return wait, ok
}

// Resident returns the current memory of a process in bytes. It returns false if it is unknown, or
// the process has ended.
func Resident(pid int) (size int64, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0, false
	}
	f := bytes.Fields(b) // pages: total, resident, …
	if len(f) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(f[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// PeakResident returns the peak memory of a process in bytes. The value that the kernel reports at exit
// is worse: on Linux it includes the memory of the parent process at the fork. PeakResident returns
// false if the peak is unknown or the process has ended.
func PeakResident(pid int) (size int64, ok bool) {
	v, ok := statusField(pid, "VmHWM")
	if !ok {
		return 0, false
	}
	kib, err := strconv.ParseInt(strings.TrimSuffix(v, " kB"), 10, 64)
	return kib << 10, err == nil
}

// Allowed returns the processors that a process may use, as in "0-3,8", or "" if unknown.
func Allowed(pid int) string {
	v, _ := statusField(pid, "Cpus_allowed_list")
	return v
}

// Children returns the pids of the processes whose parent is pid. It returns false if the kernel has no
// such list.
func Children(pid int) (pids []int, ok bool) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return nil, false
	}
	for _, e := range entries { // each thread lists the children that it started
		b, err := os.ReadFile(filepath.Join(tasks, e.Name(), "children"))
		if err != nil {
			continue
		}
		ok = true
		for _, f := range bytes.Fields(b) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids, ok
}

// statusField returns the value of a field of /proc/PID/status, such as "1234 kB".
func statusField(pid int, name string) (value string, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}
