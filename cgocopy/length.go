//go:build !asan

package cgocopy

import (
	"math/bits"
	"unsafe"
)

// textLength returns the number of bytes before the NUL of the text at p, or false if there are more than
// maxBytes. The memory after the text may be unmapped. So it reads aligned words of eight bytes, which
// never cross pages.
func textLength(p unsafe.Pointer, maxBytes int) (int, bool) {
	n := 0 // single bytes up to the first aligned address
	for ; uintptr(unsafe.Add(p, n))%8 != 0; n++ {
		if n > maxBytes {
			return 0, false
		}
		if *(*byte)(unsafe.Add(p, n)) == 0 {
			return n, true
		}
	}
	for ; n <= maxBytes; n += 8 {
		if zero := markZero(wordAt(p, n)); zero != 0 {
			n += bits.TrailingZeros64(zero) / 8
			return n, n <= maxBytes
		}
	}
	return 0, false
}
