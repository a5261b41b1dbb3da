package machine

import "time"

// CPUTime returns the user and system time that process pid has used since it was started, over all of
// its threads, including ended ones. The time of child processes is not included. It returns false
// if there is no such process or the system cannot read the clock of another process.
func CPUTime(pid int) (used time.Duration, ok bool) { return cpuTime(pid) }
