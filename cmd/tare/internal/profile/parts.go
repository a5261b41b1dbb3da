package profile

import (
	"slices"
	"strings"
)

// Names of parts of a program. Functions of the Go runtime belong to them.
const (
	partCalls      = "system calls"
	partCollecting = "runtime, collecting garbage"
	partGrowing    = "runtime, growing stacks"
	partAllocating = "runtime, allocating"
	partScheduling = "runtime, scheduling"
	partRuntime    = "runtime, all else"
)

// partOf returns the part of the program that a stack belongs to: the package of its innermost
// function. For a function of the runtime it is the task of the runtime, because its single
// functions mean little to a reader.
func partOf(s stack) string {
	path := PackageOf(s.frames[len(s.frames)-1])
	switch {
	case slices.Contains(strings.Split(path, "/"), "syscall"):
		return partCalls
	case path != "" && path != "runtime" && !strings.HasPrefix(path, "internal/runtime/"):
		return path // path is "" for assembly of the runtime
	}
	for _, p := range []struct {
		part      string
		functions []string
	}{
		{partCollecting, []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart", "runtime.deductSweepCredit"}},
		{partGrowing, []string{"runtime.newstack", "runtime.morestack", "runtime.copystack"}},
		{partAllocating, []string{"runtime.mallocgc"}},
		{partScheduling, []string{"runtime.schedule", "runtime.findRunnable", "runtime.park_m", "runtime.goready", "runtime.ready", "runtime.newproc", "runtime.goexit0", "runtime.mcall", "runtime.sysmon", "runtime.netpoll"}},
	} {
		if slices.ContainsFunc(s.frames, func(f string) bool { return slices.Contains(p.functions, f) }) {
			return p.part
		}
	}
	return partRuntime
}
