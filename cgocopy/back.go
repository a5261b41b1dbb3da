package cgocopy

import "unsafe"

// Bit returns 1 for true, else 0.
func Bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// PutBits writes the lowest width bits of v to memory and leaves other bits unchanged. bit is the first
// bit, counted from the least significant bit of the byte at p.
func PutBits(p unsafe.Pointer, bit, width int, v uint64) {
	for i := range width {
		target := (*byte)(unsafe.Add(p, (bit+i)/8))
		mask := byte(1) << ((bit + i) % 8)
		*target &^= mask
		if v>>i&1 != 0 {
			*target |= mask
		}
	}
}

// PutChars writes text to the char[n] at p, and fills the rest with NULs. It returns [ErrTooLong] without
// room for the text and a NUL.
func PutChars(p unsafe.Pointer, n int, text string) error {
	if len(text) >= n {
		return ErrTooLong
	}
	b := unsafe.Slice((*byte)(p), n)
	clear(b[copy(b, text):])
	return nil
}
