package machine

import "time"

// CPUTime returns the user and system time of a process, of all its threads, including ended ones. Child
// processes are not included. ok is false if it is unknown.
func CPUTime(pid int) (used time.Duration, ok bool) { return cpuTime(pid) }
