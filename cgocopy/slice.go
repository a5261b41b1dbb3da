package cgocopy

import (
	"encoding/binary"
	"unsafe"
)

// Integer is a C number that counts.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Count returns n, if it can be the number of elements at p.
func Count[N Integer](field string, p unsafe.Pointer, n N, most int) (int, error) {
	// A number above the largest int64 becomes negative in int64, also in the error.
	if int64(n) < 0 || int64(n) > int64(most) {
		return 0, &BadCountError{Field: field, N: int64(n), Max: int64(most)}
	}
	if p == nil && n > 0 {
		return 0, &BadCountError{Field: field, N: int64(n), Max: int64(most), Nil: true}
	}
	return int(n), nil
}

// Resize returns dst with n elements. Existing ones stay, so that their texts can be reused; it
// grows dst if it has no room.
func Resize[T any](dst []T, n int) []T {
	if n <= cap(dst) {
		return dst[:n]
	}
	grown := make([]T, n)
	copy(grown, dst)
	return grown
}

// Values returns dst with the n values at p, of a type with the same layout in Go and C.
func Values[T any](dst []T, p unsafe.Pointer, n int) []T {
	dst = Resize(dst, n)
	if n > 0 {
		copy(dst, unsafe.Slice((*T)(p), n))
	}
	return dst
}

// Bytes returns the integer of size bytes at p, at most 8, for members that Go may not load in one
// access.
func Bytes(p unsafe.Pointer, size int) uint64 {
	var b [8]byte
	copy(b[:], unsafe.Slice((*byte)(p), size))
	v := binary.NativeEndian.Uint64(b[:])
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 { // the highest byte comes first
		v >>= 64 - 8*size
	}
	return v
}

// MaxSlice is the most elements that a slice is filled with.
const MaxSlice = 1<<31 - 1

// Pointer returns the pointer at p, which need not be aligned. It is not inlined: compilers would
// follow its bytes, and no longer take the result for a pointer.
//
//go:noinline
func Pointer(p unsafe.Pointer) unsafe.Pointer {
	var q unsafe.Pointer
	*(*[unsafe.Sizeof(q)]byte)(unsafe.Pointer(&q)) = *(*[unsafe.Sizeof(q)]byte)(p)
	return q
}
