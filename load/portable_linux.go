package load

import (
	"syscall"
	"time"
)

const prSetTimerSlack = 29 // Linux, include/uapi/linux/prctl.h

// sharpen has the calling thread's timers end on time, not up to 50 µs later.
func sharpen() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 1, 0)
}

// nap sleeps for d or somewhat less. Timers of the Go runtime end on whole
// milliseconds where nothing else happens.
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil)
}
