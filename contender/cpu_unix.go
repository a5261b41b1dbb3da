//go:build unix

package contender

import "syscall"

// cpuNS returns the CPU time of this process so far, user and system, in ns.
func cpuNS() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // unknown
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
