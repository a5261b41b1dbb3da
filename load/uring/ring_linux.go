//go:build linux && (amd64 || arm64)

package uring

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// What package syscall has no names for (Linux, include/uapi/linux/io_uring.h; the
// same numbers on all architectures this file is built for).
const (
	sysSetup    = 425
	sysEnter    = 426
	sysRegister = 427

	setupCQSize       = 1 << 3
	setupSubmitAll    = 1 << 7
	setupSingleIssuer = 1 << 12
	setupDeferTaskrun = 1 << 13

	featSingleMmap = 1 << 0
	featNoIowait   = 1 << 17

	enterGetEvents = 1 << 0
	enterExtArg    = 1 << 3
	enterNoIowait  = 1 << 7

	offsetSQRing = 0
	offsetSQEs   = 0x10000000

	opPollAdd     = 6
	opAsyncCancel = 14
	opClose       = 19
	opSend        = 26
	opRecv        = 27

	flagBufferSelect = 1 << 5
	flagSkipSuccess  = 1 << 6

	recvMultishot = 1 << 1 // of an entry's Ioprio
	pollMultishot = 1 << 0 // of its Len
	cancelAll     = 1 << 0 // of its OpFlags
	cancelFD      = 1 << 1

	cqeBuffer = 1 << 0
	cqeMore   = 1 << 1
	cqeRest   = 1 << 2
)

// params is struct io_uring_params.
type params struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32
	resv                                                                   [3]uint32
	sq                                                                     struct {
		head, tail, mask, entries, flags, dropped, array, resv uint32
		addr                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, resv uint32
		addr                                                   uint64
	}
}

// entry is struct io_uring_sqe.
type entry struct {
	op, flags uint8
	ioprio    uint16
	fd        int32
	off, addr uint64
	len       uint32
	opFlags   uint32
	data      uint64
	group     uint16
	_         uint16
	_         int32
	_         [2]uint64
}

// Completion is what became of a request, struct io_uring_cqe.
type Completion struct {
	Data  uint64 // as it was handed over
	Res   int32  // as the system call of that name returns it, or the negative errno
	flags uint32
}

// More says that the request goes on and will have further completions.
func (c Completion) More() bool { return c.flags&cqeMore != 0 }

// Rest says that the socket has more, or has come to its end.
func (c Completion) Rest() bool { return c.flags&cqeRest != 0 }

// Buffer is the number of the buffer that was received into.
func (c Completion) Buffer() (int, bool) { return int(c.flags >> 16), c.flags&cqeBuffer != 0 }

// waiting is struct io_uring_getevents_arg.
type waiting struct {
	sigmask   uint64
	sigmaskSz uint32
	minWait   uint32
	ts        uint64
}

// Ring is one of a single thread: the one that opened it must use and close it.
type Ring struct {
	fd          int
	rings, sqes []byte
	sqHead      *uint32 // the kernel's
	sqTail      *uint32
	cqHead      *uint32
	cqTail      *uint32 // the kernel's
	sqMask      uint32
	cqMask      uint32
	cqes        uint32 // offset
	tail        uint32 // of what was filled in
	head        uint32 // of what was taken
	noIowait    uintptr
	arg         *waiting
	ts          *syscall.Timespec
	buffers     *Buffers
}

// Open sets up a ring that holds so many requests before they are submitted, and
// so many completions before they are taken: powers of two.
func Open(requests, completions int) (*Ring, error) {
	p := params{flags: setupCQSize | setupSubmitAll | setupSingleIssuer | setupDeferTaskrun, cqEntries: uint32(completions)}
	fd, _, errno := syscall.RawSyscall(sysSetup, uintptr(requests), uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, refused(errno)
	}
	r := &Ring{fd: int(fd), arg: &waiting{}, ts: &syscall.Timespec{}}
	syscall.CloseOnExec(r.fd)
	if p.features&featSingleMmap == 0 {
		r.Close()
		return nil, errors.New("io_uring_setup: this kernel's io_uring is older than Linux 6.1")
	}
	const access, shared = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_SHARED | syscall.MAP_POPULATE
	size := max(int(p.sq.array)+int(p.sqEntries)*4, int(p.cq.cqes)+int(p.cqEntries)*int(unsafe.Sizeof(Completion{})))
	var err error
	if r.rings, err = syscall.Mmap(r.fd, offsetSQRing, size, access, shared); err == nil {
		r.sqes, err = syscall.Mmap(r.fd, offsetSQEs, int(p.sqEntries)*int(unsafe.Sizeof(entry{})), access, shared)
	}
	if err != nil {
		r.Close()
		return nil, os.NewSyscallError("mmap", err)
	}
	r.sqHead, r.sqTail, r.cqHead, r.cqTail = r.word(p.sq.head), r.word(p.sq.tail), r.word(p.cq.head), r.word(p.cq.tail)
	r.sqMask, r.cqMask, r.cqes = *r.word(p.sq.mask), *r.word(p.cq.mask), p.cq.cqes
	for i := range p.sqEntries {
		*r.word(p.sq.array + 4*i) = i
	}
	if p.features&featNoIowait != 0 {
		r.noIowait = enterNoIowait
	}
	// The kernel reads both by these addresses; memory of Go's heap does not move.
	r.arg.ts = uint64(uintptr(unsafe.Pointer(r.ts)))
	return r, nil
}

// refused says why there is no ring.
func refused(errno syscall.Errno) error {
	err := os.NewSyscallError("io_uring_setup", errno)
	switch errno {
	case syscall.EPERM:
		if b, _ := os.ReadFile("/proc/sys/kernel/io_uring_disabled"); len(b) > 0 && b[0] != '0' {
			return fmt.Errorf("%w: kernel.io_uring_disabled is %s", err, strings.TrimSpace(string(b)))
		}
		return fmt.Errorf("%w: a sandbox, such as a container's, refuses it", err)
	case syscall.ENOSYS, syscall.EINVAL:
		return fmt.Errorf("%w: it needs Linux 6.1", err)
	}
	return err
}

func (r *Ring) word(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.rings[offset])) }

// Close closes the ring. What is under way is cancelled, some time later.
func (r *Ring) Close() {
	_ = syscall.Close(r.fd)
	for _, m := range [][]byte{r.rings, r.sqes} {
		if m != nil {
			_ = syscall.Munmap(m)
		}
	}
	r.rings, r.sqes = nil, nil
	if r.buffers != nil {
		r.buffers.unmap()
	}
}

// Queued is how many requests have not been submitted yet.
func (r *Ring) Queued() int { return int(r.tail - atomic.LoadUint32(r.sqHead)) }

// next is the entry of another request.
func (r *Ring) next(op uint8, fd int, data uint64) *entry {
	for r.Queued() > int(r.sqMask) {
		if errno := r.Submit(); errno != 0 && errno != syscall.EINTR {
			// No room for completions: they are kept by the kernel, and entered
			// when events are asked for.
			_ = r.enter(0, enterGetEvents) // it is tried until there is room
		}
	}
	e := (*entry)(unsafe.Pointer(&r.sqes[(r.tail&r.sqMask)*uint32(unsafe.Sizeof(entry{}))]))
	*e = entry{op: op, fd: int32(fd), data: data}
	r.tail++
	return e
}

// Send sends of b what the socket takes, once it takes any. The caller keeps b as
// it is until there is a completion, and has it in memory that stays where it is:
// not on a stack.
func (r *Ring) Send(fd int, b []byte, data uint64) {
	e := r.next(opSend, fd, data)
	e.addr, e.len = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), uint32(len(b))
	e.opFlags = syscall.MSG_NOSIGNAL
}

// Receive receives into the ring's buffers whatever comes, until there is a
// completion without More: at the end, after an error, or, with ENOBUFS, when there
// was no buffer left.
func (r *Ring) Receive(fd int, data uint64) {
	e := r.next(opRecv, fd, data)
	e.flags, e.ioprio, e.group = flagBufferSelect, recvMultishot, r.buffers.group
}

// PollOut has a completion when the socket can be written to, or has failed.
func (r *Ring) PollOut(fd int, data uint64) {
	r.next(opPollAdd, fd, data).opFlags = 0x4 // POLLOUT
}

// PollIn has a completion each time the descriptor becomes readable.
func (r *Ring) PollIn(fd int, data uint64) {
	e := r.next(opPollAdd, fd, data)
	e.opFlags, e.len = 0x1, pollMultishot // POLLIN
}

// Shut cancels what is under way on a descriptor and closes it. Cancelled requests
// still have their completions.
func (r *Ring) Shut(fd int, data uint64) {
	e := r.next(opAsyncCancel, fd, data)
	e.flags, e.opFlags = flagSkipSuccess, cancelFD|cancelAll
	r.next(opClose, fd, data).flags = flagSkipSuccess
}

// Submit hands over what was filled in and does not wait.
func (r *Ring) Submit() syscall.Errno {
	if r.Queued() == 0 {
		return 0
	}
	return r.enter(0, 0)
}

// Wait submits, and waits for a completion, but for d at most; not at all if d is
// not positive.
func (r *Ring) Wait(d time.Duration) {
	if r.Ready() > 0 {
		d = 0
	}
	if d <= 0 {
		_ = r.enter(0, enterGetEvents) // requests that were not taken stay queued
		return
	}
	*r.ts = syscall.NsecToTimespec(int64(d))
	_ = r.enter(1, enterGetEvents|enterExtArg) // ETIME, EINTR: the caller looks again
}

// enter is io_uring_enter. Where it may wait, the Go scheduler is told.
func (r *Ring) enter(atLeast, flags uintptr) (errno syscall.Errno) {
	submit := uintptr(r.Queued())
	atomic.StoreUint32(r.sqTail, r.tail)
	if atLeast == 0 {
		_, _, errno = syscall.RawSyscall6(sysEnter, uintptr(r.fd), submit, 0, flags, 0, 0)
		return errno
	}
	_, _, errno = syscall.Syscall6(sysEnter, uintptr(r.fd), submit, atLeast, flags|r.noIowait,
		uintptr(unsafe.Pointer(r.arg)), unsafe.Sizeof(*r.arg))
	return errno
}

// Ready is how many completions can be taken.
func (r *Ring) Ready() int { return int(atomic.LoadUint32(r.cqTail) - r.head) }

// At is the ith completion that can be taken. The caller may change it.
func (r *Ring) At(i int) *Completion {
	return (*Completion)(unsafe.Pointer(&r.rings[r.cqes+((r.head+uint32(i))&r.cqMask)*uint32(unsafe.Sizeof(Completion{}))]))
}

// Take takes n completions.
func (r *Ring) Take(n int) {
	r.head += uint32(n)
	atomic.StoreUint32(r.cqHead, r.head)
}
