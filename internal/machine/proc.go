package machine

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// This file reads facts about other processes from /proc, such as their memory and their children.

// RunQueueWait returns how long the threads of a process were ready to run but not running. It adds up
// the threads that exist now, because the file of the process covers only the first one. ok is false
// if the kernel does not report the time.
func RunQueueWait(pid int) (wait time.Duration, ok bool) {
	for _, b := range readThreadFiles(pid, "schedstat") {
		if f := bytes.Fields(b); len(f) >= 2 { // time on processor, time waiting (ns), slices
			if ns, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil {
				wait += time.Duration(ns)
				ok = true
			}
		}
	}
	return wait, ok
}

// readThreadFiles reads a file of each thread of a process.
func readThreadFiles(pid int, file string) (contents [][]byte) {
	paths, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/" + file) // fails only for an invalid pattern
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil { // otherwise the thread has ended since
			contents = append(contents, b)
		}
	}
	return contents
}

// Resident returns the current memory of a process in bytes. ok is false if it is unknown.
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

// PeakResident returns the peak memory of a running process in bytes. ok is false if it is unknown.
// The peak from wait4(2) is too large: on Linux it includes the memory of the parent at the fork.
func PeakResident(pid int) (size int64, ok bool) {
	v, ok := statusField(pid, "VmHWM")
	if !ok {
		return 0, false
	}
	kib, err := strconv.ParseInt(strings.TrimSuffix(v, " kB"), 10, 64)
	return kib << 10, err == nil
}

// Allowed returns the processors that a process may use, such as "0-3,8", or "" if unknown.
func Allowed(pid int) string {
	v, _ := statusField(pid, "Cpus_allowed_list")
	return v
}

// Children returns the pids of a process's children. ok is false if the kernel has no such list.
func Children(pid int) (pids []int, ok bool) {
	lists := readThreadFiles(pid, "children") // each thread lists its children
	for _, b := range lists {
		for _, f := range bytes.Fields(b) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids, len(lists) > 0
}

// statusField returns a field of /proc/PID/status, such as "1234 kB".
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
