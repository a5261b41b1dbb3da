//go:build linux && (amd64 || arm64)

package http3

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// Bounds of what one system call sends. The kernel cuts at most 64 packets from one
// buffer before Linux 6.10, and a buffer has at most 64 KiB.
const (
	maxSegments = 64
	maxBuffer   = 60 << 10
	maxQueued   = 256 // packets; who sends more waits
	maxMessages = 16
)

// batchSocket is a UDP socket of several connections to one address. It is connected, so
// that the kernel looks its route up once. Packets of all its connections leave together:
// those of one size as one buffer that the kernel cuts (GSO), whichever connection
// they belong to.
type batchSocket struct {
	*net.UDPConn
	raw syscall.RawConn
	to  *net.UDPAddr

	receive  func(fd uintptr) bool // readBatch, made once
	messages []ipv4.Message        // to be filled
	received int
	failure  error
	heads    [maxMessages]messageHead
	vectors  [maxMessages]unix.Iovec

	mu      sync.Mutex
	room    *sync.Cond
	queue   []packet // to be sent
	closed  bool
	pending chan struct{} // of capacity 1: there are packets
	done    chan struct{} // closed when nothing more is sent
	out     sender        // of the goroutine that sends
}

// packet is one that is to be sent.
type packet struct {
	size int
	data [1500]byte // quic-go makes none of more than 1452
}

// messageHead is struct mmsghdr.
type messageHead struct {
	head unix.Msghdr
	size uint32
	_    uint32
}

// control is a control message with the size of segments.
type control struct {
	head unix.Cmsghdr
	size uint16
	_    [6]byte
}

// sender has what sending needs, without allocating.
type sender struct {
	send     func(fd uintptr) bool // sendSome, made once
	packets  []packet
	order    []int
	vectors  []unix.Iovec
	heads    []messageHead
	controls [maxQueued]control
	next     int  // of heads, to be sent
	whole    bool // the kernel or the device cannot cut buffers
	failure  error
}

// openSocket returns a UDP socket for connections to an address.
func openSocket(to *net.UDPAddr) (net.PacketConn, error) {
	var d net.Dialer
	conn, err := d.DialContext(context.Background(), "udp", to.String())
	if err != nil {
		return nil, err
	}
	s := &batchSocket{UDPConn: conn.(*net.UDPConn), to: to, pending: make(chan struct{}, 1), done: make(chan struct{})}
	if s.raw, err = s.UDPConn.SyscallConn(); err != nil {
		conn.Close()
		return nil, err
	}
	s.room = sync.NewCond(&s.mu)
	s.receive, s.out.send = s.receiveSome, s.sendSome
	go s.sendAll()
	return s, nil
}

// ReadBatch waits for packets and fills messages with those that are there. quic-go calls
// it from one goroutine.
func (s *batchSocket) ReadBatch(messages []ipv4.Message, _ int) (int, error) {
	s.messages = messages[:min(len(messages), maxMessages)]
	for i := range s.messages {
		b := s.messages[i].Buffers[0]
		s.vectors[i].Base, s.vectors[i].Len = unsafe.SliceData(b), uint64(len(b))
		s.heads[i].head = unix.Msghdr{Iov: &s.vectors[i], Iovlen: 1}
	}
	if err := s.raw.Read(s.receive); err != nil {
		return 0, err
	}
	for i := range s.received {
		m := &s.messages[i]
		m.N, m.NN, m.Addr = int(s.heads[i].size), 0, s.to
	}
	return s.received, s.failure
}

// receiveSome reports whether it has received packets, or failed. It ignores that
// nothing listens at the address: dialling says so after its timeout, as on a socket
// that is not connected.
func (s *batchSocket) receiveSome(fd uintptr) bool {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&s.heads[0])), uintptr(len(s.messages)), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			s.received, s.failure = int(n), nil
			return true
		case unix.EAGAIN:
			return false
		case unix.EINTR, unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH:
		default:
			s.received, s.failure = 0, errno
			return true
		}
	}
}

// WriteMsgUDP queues a packet, or several of the size that oob says: quic-go passes no
// other control message, because marks of congestion are off and the socket is
// connected.
func (s *batchSocket) WriteMsgUDP(b, oob []byte, _ *net.UDPAddr) (n, oobn int, err error) {
	segment := len(b)
	if len(oob) >= unix.CmsgLen(2) {
		segment = int(binary.NativeEndian.Uint16(oob[unix.CmsgLen(0):]))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := b; len(rest) > 0; {
		for len(s.queue) >= maxQueued && !s.closed {
			s.room.Wait()
		}
		if s.closed {
			return 0, 0, net.ErrClosed
		}
		i := len(s.queue)
		if s.queue = slices.Grow(s.queue, 1)[:i+1]; segment > len(s.queue[i].data) {
			s.queue = s.queue[:i]
			return 0, 0, unix.EMSGSIZE
		}
		p := &s.queue[i]
		p.size = copy(p.data[:], rest[:min(segment, len(rest))])
		rest = rest[p.size:]
	}
	select {
	case s.pending <- struct{}{}:
	default:
	}
	return len(b), len(oob), nil
}

// WriteTo queues a packet.
func (s *batchSocket) WriteTo(b []byte, _ net.Addr) (int, error) {
	n, _, err := s.WriteMsgUDP(b, nil, nil)
	return n, err
}

// Close sends what is queued and closes the socket.
func (s *batchSocket) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.room.Broadcast()
	s.mu.Unlock()
	if !closed {
		close(s.pending)
		<-s.done
	}
	return s.UDPConn.Close()
}

// sendAll sends what is queued until the socket is closed.
func (s *batchSocket) sendAll() {
	defer close(s.done)
	for open := true; open; {
		_, open = <-s.pending
		runtime.Gosched() // other connections that are ready to send do so first
		s.mu.Lock()
		s.queue, s.out.packets = s.out.packets[:0], s.queue
		s.room.Broadcast()
		s.mu.Unlock()
		s.out.prepare()
		for s.out.next < len(s.out.heads) {
			if err := s.raw.Write(s.out.send); err != nil {
				break
			}
			s.out.skipFailed()
		}
	}
}

// prepare makes messages of the packets: those of one size in a row, in their order, so
// that a connection's long packets stay before its last, shorter one.
func (o *sender) prepare() {
	o.order, o.vectors, o.heads, o.next = o.order[:0], o.vectors[:0], o.heads[:0], 0
	for i := range o.packets {
		o.order = append(o.order, i)
		o.vectors = append(o.vectors, unix.Iovec{})
	}
	slices.SortStableFunc(o.order, func(a, b int) int { return o.packets[b].size - o.packets[a].size })
	for at := 0; at < len(o.order); {
		size, n := o.packets[o.order[at]].size, 0
		for ; at+n < len(o.order) && n < maxSegments && (n+1)*size <= maxBuffer; n++ {
			p := &o.packets[o.order[at+n]]
			if p.size != size || n > 0 && o.whole {
				break
			}
			o.vectors[at+n] = unix.Iovec{Base: &p.data[0], Len: uint64(p.size)}
		}
		h := messageHead{head: unix.Msghdr{Iov: &o.vectors[at], Iovlen: uint64(n)}}
		if n > 1 {
			c := &o.controls[len(o.heads)]
			*c = control{head: unix.Cmsghdr{Len: uint64(unix.CmsgLen(2)), Level: unix.IPPROTO_UDP, Type: unix.UDP_SEGMENT}, size: uint16(size)}
			h.head.Control, h.head.Controllen = (*byte)(unsafe.Pointer(c)), uint64(unix.CmsgSpace(2))
		}
		o.heads = append(o.heads, h)
		at += n
	}
}

// sendSome sends messages until the socket takes no more for now, which it reports as
// false.
func (s *batchSocket) sendSome(fd uintptr) bool {
	o := &s.out
	for o.failure = nil; o.next < len(o.heads); {
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&o.heads[o.next])), uintptr(len(o.heads)-o.next),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			o.next += int(n)
		case unix.EAGAIN:
			return false
		case unix.EINTR, unix.ECONNREFUSED: // of an earlier packet
		default:
			o.failure = errno
			return true
		}
	}
	return true
}

// skipFailed goes on after a message that could not be sent: QUIC takes it for lost. If
// buffers cannot be cut, packets are sent one by one from then on.
func (o *sender) skipFailed() {
	if o.failure == nil {
		return
	}
	if errors.Is(o.failure, unix.EIO) || errors.Is(o.failure, unix.EINVAL) {
		if !o.whole && o.heads[o.next].head.Iovlen > 1 {
			o.whole = true
		}
	}
	o.next++
}
