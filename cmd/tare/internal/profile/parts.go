package profile

import (
	"slices"
	"strings"
)

// Parts of the runtime, told by what called what was seen on a processor.
const (
	partCalls      = "system calls"
	partCollecting = "runtime, collecting garbage"
	partGrowing    = "runtime, growing stacks"
	partAllocating = "runtime, allocating"
	partScheduling = "runtime, scheduling"
	partRuntime    = "runtime, all else"
)

// partOf is what a stack is counted for: the package of the innermost function,
// or, where that belongs to the runtime, what the runtime was doing. A function
// of the runtime by itself says little, and has few samples.
func partOf(s stack) string {
	path := packageOf(s.frames[len(s.frames)-1])
	switch {
	case slices.Contains(strings.Split(path, "/"), "syscall"):
		return partCalls
	case path != "" && path != "runtime" && !strings.HasPrefix(path, "internal/runtime/"): // assembly has none
		return path
	}
	for _, p := range []struct {
		part  string
		words []string
	}{
		{partCollecting, []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart", "runtime.deductSweepCredit"}},
		{partGrowing, []string{"runtime.newstack", "runtime.morestack", "runtime.copystack"}},
		{partAllocating, []string{"runtime.mallocgc"}},
		{partScheduling, []string{"runtime.schedule", "runtime.findRunnable", "runtime.park_m", "runtime.goready", "runtime.ready", "runtime.newproc", "runtime.goexit0", "runtime.mcall", "runtime.sysmon", "runtime.netpoll"}},
	} {
		if slices.ContainsFunc(s.frames, func(f string) bool { return slices.Contains(p.words, f) }) {
			return p.part
		}
	}
	return partRuntime
}
