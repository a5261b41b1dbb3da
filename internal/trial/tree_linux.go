package trial

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// processStat is the kernel's account of a process, which the process cannot overwrite.
type processStat struct {
	parent, group, session int
	start                  uint64
	ended                  bool // it only waits to be reaped
}

// readProcess reads /proc/PID/stat (proc(5)). The process chooses the name in it, which may contain
// anything; the fields begin after its last parenthesis.
func readProcess(pid int) (processStat, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(f) < 20 {
		return processStat{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(string(f[i])); return n }
	start, err := strconv.ParseUint(string(f[19]), 10, 64)
	state := string(f[0])
	return processStat{parent: number(1), group: number(2), session: number(3), start: start, ended: state == "Z" || state == "X"}, err == nil
}

func identifyLeader(pid int) groupLeader {
	p, _ := readProcess(pid)
	return groupLeader{p.start, p.session}
}

// readProcesses returns all processes by pid.
func readProcesses() map[int]processStat {
	all := map[int]processStat{}
	dir, err := os.Open("/proc")
	if err != nil {
		return all
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProcess(pid); ok {
				all[pid] = p
			}
		}
	}
	return all
}

// killTrees ends the groups and whatever descends from their members, and reports
// whether there was anything. Everything is stopped before it is ended, so that
// nothing forks and no parent, by which a child is known, ends in between.
func killTrees(groups map[int]groupLeader) (found bool) {
	stopped := map[int]processStat{}
	for {
		fresh := 0
		for pid, p := range findInTrees(groups, readProcesses()) {
			if _, known := stopped[pid]; !known && signalProcess(pid, p, syscall.SIGSTOP) {
				stopped[pid] = p
				fresh++
			}
		}
		if fresh == 0 {
			break
		}
	}
	for pid, p := range stopped {
		signalProcess(pid, p, syscall.SIGKILL)
	}
	return len(stopped) > 0
}

// findInTrees returns those of all processes that live and are in a group, or descend from one that is.
// A group keeps its number while it has members; if a process with the number began at another
// time, the group is gone and forgotten.
func findInTrees(groups map[int]groupLeader, all map[int]processStat) map[int]processStat {
	for pid, l := range groups {
		if p, ok := all[pid]; ok && p.start != l.start {
			delete(groups, pid)
		}
	}
	in := map[int]processStat{}
	for grown := true; grown; {
		grown = false
		for pid, p := range all {
			_, known := in[pid]
			l, grouped := groups[p.group]
			_, child := in[p.parent]
			if !known && !p.ended && pid > 1 && pid != os.Getpid() && (child || grouped && l.start > 0 && p.session == l.session) {
				in[pid], grown = p, true
			}
		}
	}
	return in
}

// signalProcess signals a process if it is still the one that was seen. It opens the process before
// it reads it, as killTagged does.
func signalProcess(pid int, was processStat, sig syscall.Signal) bool {
	held, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer held.Release()
	p, ok := readProcess(pid)
	return ok && !p.ended && p.start == was.start && held.Signal(sig) == nil
}
