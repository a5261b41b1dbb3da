//go:build unix

package contender

import "syscall"

// cpuNS returns this process's CPU time in ns, user and system.
func cpuNS() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // unknown
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
