package nap

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

const clockMonotonic = 1 // Linux, include/uapi/linux/time.h

// New returns a timer with timerfd_create(2), if a file descriptor is available.
func New() *Timer {
	fd, _, failed := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if failed != 0 {
		return &Timer{}
	}
	return &Timer{file: os.NewFile(fd, "timer")}
}

func (t *Timer) waitFor(d time.Duration) bool {
	if t.file == nil {
		return false
	}
	raw, err := t.file.SyscallConn()
	if err != nil {
		return false
	}
	// A struct itimerspec: the interval, and the time until the first expiration.
	spec := [2]syscall.Timespec{1: syscall.NsecToTimespec(int64(d))}
	var failed syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	})
	if err != nil || failed != 0 {
		return false
	}
	_, err = t.file.Read(t.buf[:])
	return err == nil
}
