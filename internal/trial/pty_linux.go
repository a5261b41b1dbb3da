package trial

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// openTerminal opens a pseudo-terminal of 80 columns, for programs that print less into a pipe.
// What is written to child can be read from ours. As on every terminal, the kernel then replaces
// "\n" by "\r\n". Source: pts(4), ioctl_tty(2).
func openTerminal() (ours, child *os.File, err error) {
	ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("pseudo-terminal: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("pseudo-terminal: %w", err), ours.Close())
		}
	}()
	var number uint32         // child is /dev/pts/NUMBER
	var locked int32          // 0 unlocks child, which cannot be opened before
	size := [4]uint16{24, 80} // rows, columns, pixels (unknown)
	for _, call := range []struct {
		request uintptr
		arg     unsafe.Pointer
	}{
		{syscall.TIOCSPTLCK, unsafe.Pointer(&locked)}, // set the lock
		{syscall.TIOCGPTN, unsafe.Pointer(&number)},   // get the number
		{syscall.TIOCSWINSZ, unsafe.Pointer(&size)},   // set the window size
	} {
		if err := ioctl(ours, call.request, call.arg); err != nil {
			return nil, nil, err
		}
	}
	child, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	return ours, child, err
}

// ioctl calls ioctl(2). It does not use f.Fd, because that would make reads of f block a thread and
// ignore deadlines.
func ioctl(f *os.File, request uintptr, arg unsafe.Pointer) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	if err := raw.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg))
	}); err != nil {
		return err
	}
	if errno != 0 {
		return errno
	}
	return nil
}
