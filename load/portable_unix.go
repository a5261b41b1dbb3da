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

// probe checks a connection for input without waiting.
type probe struct {
	raw    syscall.RawConn
	look   func(fd uintptr)
	n      int
	closed bool
	b      [1]byte
}

func newProbe(c *net.TCPConn) (*probe, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	p := &probe{raw: raw}
	p.look = func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), p.b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		p.n = max(n, 0)
		p.closed = n == 0 && err == nil || err != nil && err != syscall.EAGAIN && err != syscall.EINTR
	}
	return p, nil
}

// pending returns how many bytes wait to be read, one or none, and whether the
// other side has closed.
func (p *probe) pending() (n int, closed bool) {
	if err := p.raw.Control(p.look); err != nil { // not Read, which minds deadlines
		return 0, true
	}
	return p.n, p.closed
}
