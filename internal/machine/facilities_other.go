//go:build !linux

package machine

import "runtime"

// facilityProbes returns probes that report each facility of Linux as missing.
func facilityProbes() []probe {
	missing := func(name, note string) probe {
		return probe{name, func() (bool, string) { return false, note }}
	}
	on := "not on " + runtime.GOOS
	return []probe{
		missing(ChildGroup, on+"; contenders are ended by process group"),
		missing(KillGroup, on),
		missing(MemoryController, on+"; the memory limit is not enforced"),
		missing(CPUPressure, on+"; other load goes unseen"),
		missing(RunQueue, on),
		missing(Throttling, on),
		missing(HardwareCounters, on),
		missing(Affinity, on),
		missing(TaggedProcesses, on+"; what leaves its process group is not found"),
	}
}
