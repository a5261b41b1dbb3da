//go:build linux && (amd64 || arm64)

package load

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// clockThreadSched are the low bits of a clock id; see threadCPU.
const clockThreadSched = 6

func newWakeFD() (int, error) {
	fd, _, errno := syscall.RawSyscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func signalWakeFD(fd int) {
	one := uint64(1)
	_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&one)), 8) // fails only if the counter overflows
}

func pinThread(cpus []int) error {
	m := newCPUMask(cpus)
	if err := callAffinity(syscall.SYS_SCHED_SETAFFINITY, 0, &m); err != nil {
		return fmt.Errorf("processors %v: %w", cpus, err)
	}
	return nil
}

// threadCPU returns the CPU time of a thread of this process, or 0 if unknown. The id of a thread's clock
// follows include/linux/posix-timers.h.
func threadCPU(tid int) time.Duration {
	var ts syscall.Timespec
	clock := uintptr(^tid<<3 | clockThreadSched)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 0
	}
	return time.Duration(ts.Nano())
}

// startConnect creates a nonblocking socket and starts to connect it to a. After an error the caller must
// still close fd unless it is -1.
func startConnect(a address) (fd int, err error) {
	fd, err = syscall.Socket(a.family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if err = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err != nil {
		return fd, os.NewSyscallError("setsockopt", err)
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Connect(fd, a.sa)
	}
	if err != nil && err != syscall.EINPROGRESS {
		return fd, os.NewSyscallError("connect", err)
	}
	return fd, nil
}

func parseAddress(s string) (address, error) {
	ap, err := netip.ParseAddrPort(s)
	if err != nil {
		return address{}, err
	}
	if ap.Addr().Is4() {
		return address{syscall.AF_INET, &syscall.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}}, nil
	}
	sa := &syscall.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16()}
	if zone := ap.Addr().Zone(); zone != "" {
		link, err := net.InterfaceByName(zone)
		if err != nil {
			return address{}, fmt.Errorf("address %s: %w", s, err)
		}
		sa.ZoneId = uint32(link.Index)
	}
	return address{syscall.AF_INET6, sa}, nil
}
