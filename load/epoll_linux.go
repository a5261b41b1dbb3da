//go:build linux && (amd64 || arm64)

package load

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// Constants that package syscall lacks (Linux, include/uapi). They are equal on all architectures of this
// file.
const (
	sysEpollPwait2 = 441
	epollIn        = 0x1
	epollOut       = 0x4
	epollErr       = 0x8
	epollHup       = 0x10
	epollRdHup     = 0x2000
	epollEdge      = 1 << 31
)

// epollSockets sends and receives on the sockets of one thread, and waits for their events. A request
// usually takes one call to send, one event and one call to receive. A link is one connection.
type epollSockets struct {
	t        *thread
	fd       int
	wakeFD   int  // eventfd that ends a wait
	isCoarse bool // the kernel lacks epoll_pwait2: waits have a resolution of 1 ms
	events   []syscall.EpollEvent
}

func newEpollSockets(t *thread) (_ *epollSockets, err error) {
	e := &epollSockets{t: t, fd: -1, wakeFD: -1, events: make([]syscall.EpollEvent, 128)}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if e.fd, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if e.wakeFD, err = newWakeFD(); err != nil {
		return nil, os.NewSyscallError("eventfd2", err)
	}
	if err = e.addFD(e.wakeFD, -1, 0); err != nil {
		return nil, err
	}
	_, errno := pollFor(e.fd, e.events, 1)            // 1 ns: only try the call
	e.isCoarse = errno != 0 && errno != syscall.EINTR // an old kernel, or a sandbox for one
	return e, nil
}

// watchFD registers the socket of l, which is connecting.
func (e *epollSockets) watchFD(l *link) error { return e.addFD(l.fd, l.index, l.generation) }

// send sends as much of b as the socket accepts. After EAGAIN, an event follows.
func (e *epollSockets) send(l *link, b []byte) (int, syscall.Errno) { return sendAll(l.fd, b) }

// receive reads available bytes into room. more reports whether there may be more, or the end of the input.
func (e *epollSockets) receive(l *link, room []byte) (b []byte, more bool, errno syscall.Errno) {
	for {
		n, errno := receiveNonblocking(l.fd, room)
		switch errno {
		case 0:
			return room[:n], l.peerClosed || n == len(room), 0
		case syscall.EINTR:
		default:
			return nil, false, errno
		}
	}
}

// shut closes l.fd, which also removes it from epoll.
func (e *epollSockets) shut(l *link) { _ = syscall.Close(l.fd) }

func (e *epollSockets) wait(d time.Duration) int {
	var n int
	var errno syscall.Errno
	switch {
	case d <= 0:
		n, errno = pollNonblocking(e.fd, e.events)
	case e.isCoarse:
		n, errno = pollCoarse(e.fd, e.events, min(d, time.Second))
	default:
		n, errno = pollFor(e.fd, e.events, min(d, time.Hour))
	}
	if errno != 0 {
		return 0
	}
	for i := range e.events[:n] {
		ev := &e.events[i]
		if ev.Fd < 0 { // wakeFD
			e.t.now = e.t.s.nowNS()
			continue
		}
		e.t.handleEvent(event{
			index: ev.Fd, generation: ev.Pad,
			in:         ev.Events&^epollOut != 0, // bytes, or an error or a close, which receive reports
			out:        ev.Events&epollOut != 0,
			peerClosed: ev.Events&(epollRdHup|epollHup|epollErr) != 0,
		})
	}
	return n
}

// endWait ends the current or the next wait. Other threads may call it.
func (e *epollSockets) endWait() { signalWakeFD(e.wakeFD) }

func (e *epollSockets) close() {
	for _, fd := range []int{e.fd, e.wakeFD} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}

func sendAll(fd int, b []byte) (sent int, errno syscall.Errno) {
	for sent < len(b) {
		n, errno := sendNonblocking(fd, b[sent:])
		if errno == 0 {
			sent += n
		} else if errno != syscall.EINTR {
			return sent, errno
		}
	}
	return sent, 0
}

// sendNonblocking and receiveNonblocking bypass the Go scheduler. That is safe: they never block.
func sendNonblocking(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

func receiveNonblocking(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		syscall.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

func pollNonblocking(fd int, events []syscall.EpollEvent) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	return int(n), errno
}

// pollFor waits at most d for an event. It informs the Go scheduler, because it can block.
func pollFor(fd int, events []syscall.EpollEvent, d time.Duration) (int, syscall.Errno) {
	ts := syscall.NsecToTimespec(int64(d))
	n, _, errno := syscall.Syscall6(sysEpollPwait2, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)),
		uintptr(unsafe.Pointer(&ts)), 0, 0)
	return int(n), errno
}

// pollCoarse is pollFor for kernels before 5.11. It waits for whole milliseconds, rounded down. The caller
// repeats it for the rest.
func pollCoarse(fd int, events []syscall.EpollEvent, d time.Duration) (int, syscall.Errno) {
	n, _, errno := syscall.Syscall6(syscall.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)),
		uintptr(d.Milliseconds()), 0, 0)
	return int(n), errno
}

// addFD registers fd for edge-triggered events of both directions. The events will contain index and
// generation.
func (e *epollSockets) addFD(fd int, index, generation int32) error {
	const edges uint32 = epollIn | epollOut | epollRdHup | epollEdge
	return os.NewSyscallError("epoll_ctl", syscall.EpollCtl(e.fd, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: edges, Fd: index, Pad: generation}))
}
