package machine

import "time"

// CPUTime is the user and system time that all threads of process pid, ended
// ones included, have used since it was started. Its children are not in it.
// False where another process's clock cannot be read, or there is no such
// process.
func CPUTime(pid int) (time.Duration, bool) { return cpuTime(pid) }
