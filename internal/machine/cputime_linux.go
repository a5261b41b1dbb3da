package machine

import (
	"syscall"
	"time"
	"unsafe"
)

// cpuTime reads the CPU clock of the process, which has a resolution of 1 ns. The times in /proc have
// only 10 ms.
//
// Source: clock_getcpuclockid(3); the id of a process's scheduler clock is the
// complement of the process number, shifted, with clock 2 in the lowest bits
// (include/linux/posix-timers.h, MAKE_PROCESS_CPUCLOCK).
func cpuTime(pid int) (used time.Duration, ok bool) {
	if pid <= 0 {
		return 0, false
	}
	const schedClock = 2
	clock := int32(^pid)<<3 | schedClock
	var t syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano()), errno == 0
}
