package cgocopy

import (
	"encoding/binary"
	"unsafe"
)

// Integer is the constraint of [Count]: the type of a C integer.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Count returns n as an int if it can be the number of elements at p. It can be at most maxElements, and
// only 0 if p is nil. Otherwise Count returns a [BadCountError]. field is the name of the counting member.
func Count[N Integer](field string, p unsafe.Pointer, n N, maxElements int) (int, error) {
	// An unsigned number above the largest int64 becomes negative, also in the error.
	if int64(n) < 0 || int64(n) > int64(maxElements) {
		return 0, &BadCountError{Field: field, N: int64(n), Max: int64(maxElements)}
	}
	if p == nil && n > 0 {
		return 0, &BadCountError{Field: field, N: int64(n), Max: int64(maxElements), Nil: true}
	}
	return int(n), nil
}

// Resize returns dst with n elements, in new memory if dst has no room. Existing elements keep their
// values, so their texts can be reused.
func Resize[T any](dst []T, n int) []T {
	if n <= cap(dst) {
		return dst[:n]
	}
	grown := make([]T, n)
	copy(grown, dst)
	return grown
}

// Values returns dst with n elements, filled with the values at p. T must have the same layout in Go and C.
func Values[T any](dst []T, p unsafe.Pointer, n int) []T {
	dst = Resize(dst, n)
	if n > 0 {
		copy(dst, unsafe.Slice((*T)(p), n))
	}
	return dst
}

// Bytes returns the integer of size bytes at p, which may be unaligned. size is at most 8.
func Bytes(p unsafe.Pointer, size int) uint64 {
	var b [8]byte
	copy(b[:], unsafe.Slice((*byte)(p), size))
	v := binary.NativeEndian.Uint64(b[:])
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 { // big endian
		v >>= 64 - 8*size
	}
	return v
}

// MaxSlice is the maximum number of elements that SliceFromC copies.
const MaxSlice = 1<<31 - 1

// Pointer returns the pointer that is stored at p, which need not be aligned. It must not be inlined: the
// compiler might then copy single bytes, and not know that the result is a pointer.
//
//go:noinline
func Pointer(p unsafe.Pointer) unsafe.Pointer {
	var q unsafe.Pointer
	*(*[unsafe.Sizeof(q)]byte)(unsafe.Pointer(&q)) = *(*[unsafe.Sizeof(q)]byte)(p)
	return q
}
