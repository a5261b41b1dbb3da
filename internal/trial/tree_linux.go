package trial

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// This file finds the processes of a contender, a measured program, by their parents and process
// groups. That works even if a process has overwritten the tags in its environment.

// processStat contains facts of the kernel about a process, which the process cannot change.
type processStat struct {
	parent, group, session int
	start                  uint64 // clock ticks after the machine's start
	ended                  bool   // waits to be reaped
}

// readProcess reads /proc/PID/stat (proc(5)). Its second field is the name in parentheses, which may
// contain any characters. So the other fields begin after the last parenthesis.
func readProcess(pid int) (stat processStat, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(fields) < 20 {
		return processStat{}, false
	}
	// fields[0] is field 3 of proc(5), state. Field 22 is starttime.
	number := func(i int) int { n, _ := strconv.Atoi(string(fields[i])); return n }
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	state := string(fields[0])
	return processStat{parent: number(1), group: number(2), session: number(3), start: start, ended: state == "Z" || state == "X"}, err == nil
}

func identifyLeader(pid int) groupLeader {
	p, _ := readProcess(pid)
	return groupLeader{start: p.start, session: p.session}
}

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

// killTrees kills process groups and all descendants of their members, and reports whether there were
// any. groups has the leader of each group by its pid.
//
// killTrees suspends all processes before it kills one. A suspended process cannot fork, and its
// children can still be found by their parent.
func killTrees(groups map[int]groupLeader) (found bool) {
	stopped := map[int]processStat{}
	for {
		newlyStopped := 0
		for pid, p := range findInTrees(groups, readProcesses()) {
			if _, isStopped := stopped[pid]; !isStopped && signalProcess(pid, p, syscall.SIGSTOP) {
				stopped[pid] = p
				newlyStopped++
			}
		}
		if newlyStopped == 0 {
			break
		}
	}
	for pid, p := range stopped {
		signalProcess(pid, p, syscall.SIGKILL)
	}
	return len(stopped) > 0
}

// findInTrees returns those of all that are alive and in groups, and their descendants. It deletes
// groups that have ended from groups.
//
// While a group has members, no other process gets its number. So the group has ended if a process
// with that number started at another time than the leader.
func findInTrees(groups map[int]groupLeader, all map[int]processStat) map[int]processStat {
	for pid, l := range groups {
		if p, ok := all[pid]; ok && p.start != l.start {
			delete(groups, pid)
		}
	}
	found := map[int]processStat{}
	for hasGrown := true; hasGrown; { // until a pass finds no more children
		hasGrown = false
		for pid, p := range all {
			_, isFound := found[pid]
			if isFound || p.ended || !mayKill(pid) {
				continue
			}
			leader, inGroup := groups[p.group]
			isMember := inGroup && leader.start > 0 && p.session == leader.session
			if _, isChild := found[p.parent]; isChild || isMember {
				found[pid], hasGrown = p, true
			}
		}
	}
	return found
}

// signalProcess signals process pid if it is still the one that expected describes, and reports whether
// it did. It opens the process before it reads it again. So the signal cannot reach a later process
// with the same pid.
func signalProcess(pid int, expected processStat, sig syscall.Signal) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer process.Release()
	p, ok := readProcess(pid)
	isSame := ok && !p.ended && p.start == expected.start
	return isSame && process.Signal(sig) == nil
}
