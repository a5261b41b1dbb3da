package machine

import "time"

// CPUTime returns the user and system time of a process so far. It includes ended threads, but no
// child processes. ok is false if there is no such process or the system cannot read its clock.
func CPUTime(pid int) (used time.Duration, ok bool) { return cpuTime(pid) }
