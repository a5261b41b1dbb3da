//go:build unix

package load

import (
	"net"
	"syscall"
	"time"
)

// processCPU is the processor time of this process.
func processCPU() time.Duration {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// pending returns how many bytes wait to be read, one or none, and whether
// the other side has closed.
func pending(c *net.TCPConn) (n int, closed bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, true
	}
	var b [1]byte
	err = raw.Control(func(fd uintptr) { // not Read, which minds deadlines
		var err error
		n, _, err = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		closed = n == 0 && err == nil || err != nil && err != syscall.EAGAIN && err != syscall.EINTR //nolint:errorlint // a bare number from the system
	})
	return max(n, 0), closed || err != nil
}
