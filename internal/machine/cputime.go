package machine

import "time"

// CPUTime returns the user and system time that all threads of process pid, including ended ones,
// have used since it was started, without its children. It returns false if another process's clock
// cannot be read, or there is no such process.
func CPUTime(pid int) (time.Duration, bool) { return cpuTime(pid) }
