package machine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// This file counts the processor's instructions and other events, with perf_event_open(2).

// Events and flags of the call.
const (
	hardwareEvent, softwareEvent   = 0, 1 // types of events
	cyclesEvent, instructionsEvent = 0, 1 // events of type hardware
	taskClockEvent                 = 1    // event of type software: CPU time in ns

	counterOff      = 1 << 0  // does not count until it is enabled
	counterInherits = 1 << 1  // includes later children and threads
	counterUser     = 3 << 5  // excludes kernel and hypervisor
	counterOnExec   = 1 << 12 // starts when a child executes a program
	closeOnExec     = 8       // flag of the call itself
)

// openCounter opens a counter of events of this thread in user space, on any processor.
func openCounter(kind uint32, event, flags uint64) (fd int, err error) {
	attr := struct { // perf_event_attr in its first version, 64 bytes
		kind, size                          uint32
		config, period, sample, read, flags uint64
		wakeup, breakpoint                  uint32
		address                             uint64
	}{kind: kind, size: 64, config: event, flags: counterUser | flags}
	const thisThread, anyCPU, noGroup = 0, ^uintptr(0), ^uintptr(0) // the last two are -1
	n, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)), thisThread, anyCPU, noGroup, closeOnExec, 0)
	switch {
	case errno == syscall.ENOENT || errno == syscall.EOPNOTSUPP || errno == syscall.ENODEV:
		return 0, errors.New("none (usual in a virtual machine)")
	case errno == syscall.EACCES || errno == syscall.EPERM:
		return 0, errors.New("not permitted; perf_event_paranoid is " + firstLine("/proc/sys/kernel/perf_event_paranoid"))
	case errno == syscall.ENOSYS:
		return 0, errors.New("this kernel has none")
	case errno != 0:
		return 0, errno
	}
	return int(n), nil
}

func readCounter(fd int) (uint64, error) {
	var count [8]byte
	n, err := syscall.Read(fd, count[:])
	if err == nil && n != len(count) {
		err = errors.New("no count")
	}
	if err != nil {
		return 0, fmt.Errorf("read a counter: %w", err)
	}
	return binary.NativeEndian.Uint64(count[:]), nil
}

// HasInstructions returns nil if this machine can count the instructions of programs. Otherwise the
// error has the reason.
func HasInstructions() error { return checkCounter(instructionsEvent) }

// checkCounter returns an error if this machine cannot count a hardware event.
func checkCounter(event uint64) error {
	fd, err := openCounter(hardwareEvent, event, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	if n, err := readCounter(fd); err != nil || n == 0 {
		return errors.New("opened, but they do not count")
	}
	return nil
}

// CountInstructions calls start, which starts a program, and counts the instructions of all its
// threads in user space. Call read exactly once, after the program has ended: it returns their number.
func CountInstructions(start func() error) (read func() (uint64, error), err error) {
	return countProgram(hardwareEvent, instructionsEvent, start)
}

// countProgram calls start, which starts a program, and counts an event of that program. It opens a
// disabled counter for this thread. A child process inherits the counter. The kernel enables it when
// the child executes the program.
func countProgram(kind uint32, event uint64, start func() error) (read func() (uint64, error), err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fd, err := openCounter(kind, event, counterOff|counterInherits|counterOnExec)
	if err != nil {
		return nil, err
	}
	if err := start(); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return func() (uint64, error) {
		defer syscall.Close(fd)
		return readCounter(fd)
	}, nil
}
