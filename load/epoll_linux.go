//go:build linux && (amd64 || arm64)

package load

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// What package syscall has no names for (Linux, include/uapi; the same numbers
// on all architectures this file is built for).
const (
	sysEpollPwait2 = 441
	epollIn        = 0x1
	epollOut       = 0x4
	epollErr       = 0x8
	epollHup       = 0x10
	epollRdHup     = 0x2000
	epollEdge      = 1 << 31
)

// epollSockets are a thread's sockets by epoll: an answer takes one recv, a request
// one send, and an event says when there is something to do.
type epollSockets struct {
	t      *thread
	fd     int
	bell   int
	coarse bool // no waiting to the nanosecond
	events []syscall.EpollEvent
}

func newEpollSockets(t *thread) (_ sockets, err error) {
	e := &epollSockets{t: t, fd: -1, bell: -1, events: make([]syscall.EpollEvent, 128)}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if e.fd, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if e.bell, err = newBell(); err != nil {
		return nil, os.NewSyscallError("eventfd2", err)
	}
	if err = e.register(e.bell, -1, 0); err != nil {
		return nil, err
	}
	_, errno := poll(e.fd, e.events, 1)
	e.coarse = errno != 0 && errno != syscall.EINTR // an old kernel, or a sandbox that knows only old ones
	return e, nil
}

func (e *epollSockets) watch(l *link) error { return e.register(l.fd, l.index, l.turn) }

func (e *epollSockets) send(l *link, b []byte) (int, syscall.Errno) { return sendAll(l.fd, b) }

// receive takes what there is. Less than fits says that it was all, unless the
// other side is gone: then the end is still to be read.
func (e *epollSockets) receive(l *link, room []byte) ([]byte, bool, syscall.Errno) {
	for {
		n, errno := receiveNow(l.fd, room)
		switch errno {
		case 0:
			return room[:n], l.gone || n == len(room), 0
		case syscall.EINTR:
		default:
			return nil, false, errno
		}
	}
}

func (e *epollSockets) shut(l *link) { _ = syscall.Close(l.fd) }

func (e *epollSockets) wait(d time.Duration) int {
	var n int
	var errno syscall.Errno
	switch {
	case d <= 0:
		n, errno = pollNow(e.fd, e.events)
	case e.coarse:
		n, errno = pollCoarse(e.fd, e.events, min(d, time.Second))
	default:
		n, errno = poll(e.fd, e.events, min(d, time.Hour))
	}
	if errno != 0 {
		return 0
	}
	for i := range e.events[:n] {
		ev := &e.events[i]
		if ev.Fd < 0 { // the bell
			e.t.now = e.t.s.now()
			continue
		}
		e.t.handle(event{
			index: ev.Fd, turn: ev.Pad,
			in: ev.Events&^epollOut != 0, out: ev.Events&epollOut != 0, gone: ev.Events&(epollRdHup|epollHup|epollErr) != 0,
		})
	}
	return n
}

func (e *epollSockets) settle() {}

func (e *epollSockets) ring() { ring(e.bell) }

func (e *epollSockets) close() {
	for _, fd := range []int{e.fd, e.bell} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}

// sendAll sends as much of b as the socket takes.
func sendAll(fd int, b []byte) (sent int, errno syscall.Errno) {
	for sent < len(b) {
		n, errno := sendNow(fd, b[sent:])
		if errno == 0 {
			sent += n
		} else if errno != syscall.EINTR {
			return sent, errno
		}
	}
	return sent, 0
}

// sendNow and receiveNow never block, so the Go scheduler need not know of
// them.
func sendNow(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

func receiveNow(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		syscall.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// pollNow returns what has happened already.
func pollNow(fd int, events []syscall.EpollEvent) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	return int(n), errno
}

// poll waits for something to happen, for d at most. It may block, so the
// scheduler is told.
func poll(fd int, events []syscall.EpollEvent, d time.Duration) (int, syscall.Errno) {
	ts := syscall.NsecToTimespec(int64(d))
	n, _, errno := syscall.Syscall6(sysEpollPwait2, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)),
		uintptr(unsafe.Pointer(&ts)), 0, 0)
	return int(n), errno
}

// pollCoarse is poll for kernels before 5.11, in whole milliseconds and never
// too long: what is left of the last one is spent asking.
func pollCoarse(fd int, events []syscall.EpollEvent, d time.Duration) (int, syscall.Errno) {
	n, _, errno := syscall.Syscall6(syscall.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)),
		uintptr(d.Milliseconds()), 0, 0)
	return int(n), errno
}

// register has fd reported when it becomes readable or writable, once for each
// time it becomes so. An event carries both numbers.
func (e *epollSockets) register(fd int, index, turn int32) error {
	const edges uint32 = epollIn | epollOut | epollRdHup | epollEdge
	return os.NewSyscallError("epoll_ctl", syscall.EpollCtl(e.fd, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: edges, Fd: index, Pad: turn}))
}
