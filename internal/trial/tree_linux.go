package trial

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// process is what the kernel says of a process, which it cannot overwrite itself.
type process struct {
	parent, group, session int
	start                  uint64
	ended                  bool // it only waits to be reaped
}

// readProcess reads /proc/PID/stat (proc(5)). The name in it is the process's own
// choice and may hold anything; the fields begin behind its last parenthesis.
func readProcess(pid int) (process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(f) < 20 {
		return process{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(string(f[i])); return n }
	start, err := strconv.ParseUint(string(f[19]), 10, 64)
	state := string(f[0])
	return process{parent: number(1), group: number(2), session: number(3), start: start, ended: state == "Z" || state == "X"}, err == nil
}

func identify(pid int) leader {
	p, _ := readProcess(pid)
	return leader{p.start, p.session}
}

// processes are all that there are.
func processes() map[int]process {
	all := map[int]process{}
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
func killTrees(groups map[int]leader) (found bool) {
	stopped := map[int]process{}
	for {
		fresh := 0
		for pid, p := range inTrees(groups, processes()) {
			if _, known := stopped[pid]; !known && send(pid, p, syscall.SIGSTOP) {
				stopped[pid] = p
				fresh++
			}
		}
		if fresh == 0 {
			break
		}
	}
	for pid, p := range stopped {
		send(pid, p, syscall.SIGKILL)
	}
	return len(stopped) > 0
}

// inTrees are those of all processes that live and are in a group, or descend from
// one that is. A group keeps its number while anybody is in it; where a process
// with the number began at another time, the group is gone and forgotten.
func inTrees(groups map[int]leader, all map[int]process) map[int]process {
	for pid, l := range groups {
		if p, ok := all[pid]; ok && p.start != l.start {
			delete(groups, pid)
		}
	}
	in := map[int]process{}
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

// send signals a process if it is still the one that was seen. It is held
// before it is looked at, as by killTagged.
func send(pid int, was process, sig syscall.Signal) bool {
	held, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer held.Release()
	p, ok := readProcess(pid)
	return ok && !p.ended && p.start == was.start && held.Signal(sig) == nil
}
