//go:build linux && (amd64 || arm64)

package uring

import (
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const registerBuffers = 22 // IORING_REGISTER_PBUF_RING

// registration is struct io_uring_buf_reg.
type registration struct {
	addr         uint64
	entries      uint32
	group, flags uint16
	_            [3]uint64
}

// buffer is struct io_uring_buf.
type buffer struct {
	addr uint64
	len  uint32
	id   uint16
	tail uint16 // of all, in the first one
}

// Buffers are what a ring receives into: the kernel picks one when something has
// come, and the caller gives it back.
type Buffers struct {
	group  uint16
	size   int
	stride int
	mask   uint16
	tail   uint16
	memory []byte
	shared []byte // what is free
}

// spread sets buffers apart, so that their beginnings, which are all that small
// answers use, are not in the same lines of a processor's caches.
const spread = 3 * 64

// Buffers gives a ring n buffers of size bytes; n is a power of two.
func (r *Ring) Buffers(n, size int) (*Buffers, error) {
	b := &Buffers{size: size, stride: size + spread, mask: uint16(n - 1)}
	r.buffers = b
	const access, private = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_ANON | syscall.MAP_PRIVATE
	var err error
	if b.memory, err = syscall.Mmap(-1, 0, n*b.stride, access, private); err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	if b.shared, err = syscall.Mmap(-1, 0, n*int(unsafe.Sizeof(buffer{})), access, private); err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	reg := registration{addr: uint64(uintptr(unsafe.Pointer(&b.shared[0]))), entries: uint32(n), group: b.group}
	if _, _, errno := syscall.RawSyscall6(sysRegister, uintptr(r.fd), registerBuffers, uintptr(unsafe.Pointer(&reg)), 1, 0, 0); errno != 0 {
		return nil, os.NewSyscallError("io_uring_register", errno)
	}
	for id := range n {
		b.put(id)
	}
	b.publish()
	return b, nil
}

func (b *Buffers) unmap() {
	for _, m := range [][]byte{b.memory, b.shared} {
		if m != nil {
			_ = syscall.Munmap(m)
		}
	}
	b.memory, b.shared = nil, nil
}

// Bytes is what a buffer holds.
func (b *Buffers) Bytes(id, n int) []byte { return b.memory[id*b.stride:][:n:n] }

// Return gives a buffer back to the kernel.
func (b *Buffers) Return(id int) {
	b.put(id)
	b.publish()
}

func (b *Buffers) at(i uint16) *buffer {
	return (*buffer)(unsafe.Pointer(&b.shared[uintptr(i&b.mask)*unsafe.Sizeof(buffer{})]))
}

func (b *Buffers) put(id int) {
	e := b.at(b.tail)
	e.addr, e.len, e.id = uint64(uintptr(unsafe.Pointer(&b.memory[id*b.stride]))), uint32(b.size), uint16(id)
	b.tail++
}

// publish lets the kernel see the tail. It is half of a word, and package atomic
// stores words; the other half is the id of the first buffer.
func (b *Buffers) publish() {
	first := b.at(0)
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&first.id)), uint32(first.id)|uint32(b.tail)<<16)
}
