//go:build unix

package load

import (
	"net"
	"syscall"
	"time"
)

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
	peek   func(fd uintptr) // sets n and closed
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
	p.peek = func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), p.b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		p.n = max(n, 0)
		isEnd := n == 0 && err == nil
		isBroken := err != nil && err != syscall.EAGAIN && err != syscall.EINTR
		p.closed = isEnd || isBroken
	}
	return p, nil
}

// pending returns n = 1 if bytes wait to be read, otherwise 0. closed also covers broken connections.
func (p *probe) pending() (n int, closed bool) {
	if err := p.raw.Control(p.peek); err != nil { // RawConn.Read would fail after the deadline
		return 0, true
	}
	return p.n, p.closed
}
