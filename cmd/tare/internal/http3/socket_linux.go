//go:build linux && (amd64 || arm64)

package http3

import (
	"cmp"
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

// Bounds of a system call. Before Linux 6.10 the kernel cuts at most 64 packets from one buffer of at most
// 64 KiB.
const (
	maxSegments = 64       // packets in a buffer
	maxBuffer   = 60 << 10 // bytes of a buffer
	maxQueued   = 256      // packets in the queue; a full queue blocks senders
	maxMessages = 16       // messages that one call receives
	maxMessage  = 64 << 10 // bytes of a message: the kernel joins packets up to this size
)

// batchSocket is a UDP socket of several QUIC connections to one address. It saves system calls for
// quic-go. WriteMsgUDP queues packets of all connections, and a goroutine sends the queue. Packets of the
// same size share a buffer, which the kernel cuts (generic segmentation offload). ReadBatch receives
// several messages with one system call. A message has one packet, or several that the kernel has joined
// (generic receive offload): packets of the same size that the server sent in one buffer. The socket is
// connected, so that the kernel looks up its route once.
type batchSocket struct {
	*net.UDPConn
	raw syscall.RawConn
	to  *net.UDPAddr
	in  receiver // only the goroutine that receives uses it

	mu      sync.Mutex
	room    *sync.Cond // there may be room in the queue, or the socket is closed
	queue   []packet
	closed  bool
	pending chan struct{} // has a value if there are packets; closed by Close
	done    chan struct{} // closed after the last packet was sent

	out sender // only the goroutine that sends uses it
}

type packet struct {
	size int
	data [1500]byte // quic-go makes packets of at most 1452 bytes
}

// receiver receives messages. It reuses its memory, so that receiving does not allocate.
type receiver struct {
	receive  func(fd uintptr) bool // the method receiveSome, bound once
	buffers  []byte                // maxMessage bytes for each message; Linux provides pages that are used
	heads    [maxMessages]messageHead
	vectors  [maxMessages]unix.Iovec
	controls [maxMessages][16]uint64 // control messages of each message, aligned
	count    int                     // messages that the last call filled
	next     int                     // the first message with a packet that ReadBatch has not returned
	returned int                     // bytes of that message in packets that it has returned
	segment  int                     // size of the packets of that message; the last may be smaller
	failure  error                   // error of the last call, or nil
}

// messageHead is struct mmsghdr of the kernel.
type messageHead struct {
	head unix.Msghdr
	size uint32
	_    uint32 // padding
}

// control is a control message (UDP_SEGMENT) with the size of the packets in a buffer.
type control struct {
	head unix.Cmsghdr
	size uint16
	_    [6]byte // padding
}

// sender sends packets. It reuses its memory, so that sending does not allocate.
type sender struct {
	send     func(fd uintptr) bool // the method sendSome, bound once
	packets  []packet
	order    []int         // of packets, the longest first
	vectors  []unix.Iovec  // one per packet
	heads    []messageHead // one per buffer
	controls [maxQueued]control
	next     int   // next buffer to send, in heads
	noCuts   bool  // buffers cannot be cut: each packet gets a separate one
	failure  error // error of the last call, or nil
}

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
	// Before Linux 5.0 this fails, and each message has one packet.
	_ = s.raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_GRO, 1) })
	s.room = sync.NewCond(&s.mu)
	s.in.buffers = make([]byte, maxMessages*maxMessage)
	s.in.receive, s.out.send = s.in.receiveSome, s.sendSome
	go s.sendAll()
	return s, nil
}

// ReadBatch waits for packets, fills messages of quic-go with one packet each, and returns their number.
// quic-go calls it from one goroutine.
func (s *batchSocket) ReadBatch(messages []ipv4.Message, _ int) (int, error) {
	in := &s.in
	if in.next == in.count { // all packets are returned
		in.prepareMessages()
		if err := s.raw.Read(in.receive); err != nil {
			return 0, err
		}
		if in.failure != nil {
			return 0, in.failure
		}
	}
	n := 0
	for ; n < len(messages) && in.next < in.count; n++ {
		m := &messages[n]
		m.N, m.NN, m.Addr = copy(m.Buffers[0], in.takePacket()), 0, s.to
	}
	return n, nil
}

// prepareMessages sets the fields that the kernel reads and overwrites.
func (in *receiver) prepareMessages() {
	in.count, in.next, in.returned = 0, 0, 0
	for i := range in.heads {
		in.vectors[i] = unix.Iovec{Base: &in.buffers[i*maxMessage], Len: maxMessage}
		in.heads[i].head = unix.Msghdr{
			Iov: &in.vectors[i], Iovlen: 1,
			Control: (*byte)(unsafe.Pointer(&in.controls[i])), Controllen: uint64(unsafe.Sizeof(in.controls[i])),
		}
	}
}

// receiveSome receives messages without waiting. If there are none it returns false; the Go runtime then
// calls it again later. It ignores errors that ICMP reports: as on an unconnected socket, dialling then
// fails after its timeout.
func (in *receiver) receiveSome(fd uintptr) bool {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&in.heads[0])), maxMessages, unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			in.count, in.failure = int(n), nil
			return true
		case unix.EAGAIN:
			return false
		case unix.EINTR, unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH: // try again
		default:
			in.failure = errno
			return true
		}
	}
}

// takePacket returns the next packet of the messages that the last call received.
func (in *receiver) takePacket() []byte {
	head := &in.heads[in.next]
	start := in.next * maxMessage
	message := in.buffers[start : start+int(head.size)]
	if in.returned == 0 {
		control := unsafe.Slice((*byte)(unsafe.Pointer(&in.controls[in.next])), head.head.Controllen)
		in.segment = cmp.Or(findSegmentSize(control), len(message))
	}
	rest := message[in.returned:]
	p := rest[:min(in.segment, len(rest))]
	if in.returned += len(p); in.returned == len(message) {
		in.next, in.returned = in.next+1, 0
	}
	return p
}

// findSegmentSize returns the size of the packets that the kernel has joined, or 0 if the control messages
// of a message do not have it: there is one packet then.
func findSegmentSize(control []byte) int {
	for len(control) >= unix.SizeofCmsghdr {
		head := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
		if head.Level == unix.IPPROTO_UDP && head.Type == unix.UDP_GRO && head.Len >= uint64(unix.CmsgLen(4)) {
			return int(binary.NativeEndian.Uint32(control[unix.CmsgLen(0):]))
		}
		size := max(0, int(head.Len)-unix.CmsgLen(0))
		control = control[min(unix.CmsgSpace(size), len(control)):]
	}
	return 0
}

// WriteMsgUDP queues the packets in b. oob contains their size; without oob, b is one packet. quic-go sends
// no other control message. WriteMsgUDP waits while the queue is full.
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
		s.queue = slices.Grow(s.queue, 1)[:i+1] // append would zero the packet
		p := &s.queue[i]
		if segment > len(p.data) {
			s.queue = s.queue[:i]
			return 0, 0, unix.EMSGSIZE
		}
		p.size = copy(p.data[:], rest[:min(segment, len(rest))])
		rest = rest[p.size:]
	}
	select {
	case s.pending <- struct{}{}:
	default: // the sender will wake up anyway
	}
	return len(b), len(oob), nil
}

// WriteTo queues a packet.
func (s *batchSocket) WriteTo(b []byte, _ net.Addr) (int, error) {
	n, _, err := s.WriteMsgUDP(b, nil, nil)
	return n, err
}

// Close sends the queued packets and closes the socket.
func (s *batchSocket) Close() error {
	s.mu.Lock()
	wasClosed := s.closed
	s.closed = true
	s.room.Broadcast()
	s.mu.Unlock()
	if !wasClosed {
		close(s.pending)
		<-s.done
	}
	return s.UDPConn.Close()
}

// sendAll sends queued packets until the socket is closed, and then the rest.
func (s *batchSocket) sendAll() {
	defer close(s.done)
	for isOpen := true; isOpen; {
		_, isOpen = <-s.pending
		runtime.Gosched() // other connections that are ready to send do so first
		s.mu.Lock()
		s.queue, s.out.packets = s.out.packets[:0], s.queue // swapped, to reuse the memory
		s.room.Broadcast()
		s.mu.Unlock()
		s.out.prepareBuffers()
		for s.out.next < len(s.out.heads) {
			if err := s.raw.Write(s.out.send); err != nil {
				break // the socket is closed
			}
			s.out.skipFailed()
		}
	}
}

// prepareBuffers puts the packets into buffers, the longest first. Packets of the same size share a buffer. So the
// full-size packets of a connection stay before its last, shorter packet.
func (o *sender) prepareBuffers() {
	o.order, o.vectors, o.heads, o.next = o.order[:0], o.vectors[:0], o.heads[:0], 0
	for i := range o.packets {
		o.order = append(o.order, i)
		o.vectors = append(o.vectors, unix.Iovec{})
	}
	slices.SortStableFunc(o.order, func(a, b int) int { return o.packets[b].size - o.packets[a].size })
	for start := 0; start < len(o.order); {
		size, n := o.packets[o.order[start]].size, 0 // n packets from start on, of this size, are one buffer
		for ; start+n < len(o.order) && n < maxSegments && (n+1)*size <= maxBuffer; n++ {
			p := &o.packets[o.order[start+n]]
			mustSeparate := n > 0 && o.noCuts
			if p.size != size || mustSeparate {
				break
			}
			o.vectors[start+n] = unix.Iovec{Base: &p.data[0], Len: uint64(p.size)}
		}
		h := messageHead{head: unix.Msghdr{Iov: &o.vectors[start], Iovlen: uint64(n)}}
		if n > 1 {
			c := &o.controls[len(o.heads)]
			*c = control{head: unix.Cmsghdr{Len: uint64(unix.CmsgLen(2)), Level: unix.IPPROTO_UDP, Type: unix.UDP_SEGMENT}, size: uint16(size)}
			h.head.Control, h.head.Controllen = (*byte)(unsafe.Pointer(c)), uint64(unix.CmsgSpace(2))
		}
		o.heads = append(o.heads, h)
		start += n
	}
}

// sendSome sends buffers until all are sent or one fails. If the socket is full it returns false; the Go
// runtime then calls it again later.
func (s *batchSocket) sendSome(fd uintptr) bool {
	o := &s.out
	o.failure = nil
	for o.next < len(o.heads) {
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&o.heads[o.next])), uintptr(len(o.heads)-o.next),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			o.next += int(n)
		case unix.EAGAIN:
			return false
		case unix.EINTR, unix.ECONNREFUSED: // try again: the error is about an earlier packet
		default:
			o.failure = errno
			return true
		}
	}
	return true
}

// skipFailed skips a buffer that could not be sent. QUIC sends the content again. If the buffer could not
// be cut, packets get separate buffers from now on.
func (o *sender) skipFailed() {
	if o.failure == nil {
		return
	}
	isCutError := errors.Is(o.failure, unix.EIO) || errors.Is(o.failure, unix.EINVAL)
	if isCutError && o.heads[o.next].head.Iovlen > 1 {
		o.noCuts = true
	}
	o.next++
}
