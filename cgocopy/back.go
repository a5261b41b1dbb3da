package cgocopy

import "unsafe"

// Bit returns 1 for true, else 0.
func Bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// PutBits writes the lowest width bits of v to p, from bit on, counted from the least significant
// one of the byte there. The other bits stay.
func PutBits(p unsafe.Pointer, bit, width int, v uint64) {
	for i := range width {
		at := (*byte)(unsafe.Add(p, (bit+i)/8))
		one := byte(1) << ((bit + i) % 8)
		*at &^= one
		if v>>i&1 != 0 {
			*at |= one
		}
	}
}

// PutChars writes text to the char[n] at p, and NULs after it. A text of n bytes has no room for
// its NUL.
func PutChars(p unsafe.Pointer, n int, text string) error {
	if len(text) >= n {
		return ErrTooLong
	}
	b := unsafe.Slice((*byte)(p), n)
	clear(b[copy(b, text):])
	return nil
}
