package trial

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// A contender (a program to measure) may overwrite its environment. Its processes are then found by parent and
// group.

// processStat cannot be changed by the process.
type processStat struct {
	parent, group, session int
	start                  uint64 // clock ticks after the machine's start
	ended                  bool   // waits to be reaped
}

// readProcess reads /proc/PID/stat (proc(5)). The name, in parentheses, may contain any characters, so other
// fields begin after the last parenthesis.
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

// killTrees kills groups, given by their leaders, and all descendants. It suspends all processes before it
// kills one. A suspended process cannot fork, and its children still have their parent.
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

// findInTrees returns the living processes of groups and their descendants. It deletes groups that have ended.
//
// A group with members keeps its number. So a leader with another start time shows that the group has ended.
func findInTrees(groups map[int]groupLeader, all map[int]processStat) map[int]processStat {
	for pid, l := range groups {
		if p, ok := all[pid]; ok && p.start != l.start {
			delete(groups, pid)
		}
	}
	found := map[int]processStat{}
	for hasGrown := true; hasGrown; { // ends if no more children are found
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

// signalProcess opens the process before it compares it with before. A later process with the same number is
// safe.
func signalProcess(pid int, before processStat, sig syscall.Signal) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer process.Release()
	p, ok := readProcess(pid)
	isSame := ok && !p.ended && p.start == before.start
	return isSame && process.Signal(sig) == nil
}
