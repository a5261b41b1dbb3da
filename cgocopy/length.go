//go:build !asan

package cgocopy

import (
	"math/bits"
	"unsafe"
)

// textLength returns how many bytes come before the NUL at p, of at most most. It reads aligned
// words of eight bytes, which are never in two pages: memory after the NUL's word may be unmapped.
func textLength(p unsafe.Pointer, most int) (int, bool) {
	n := 0
	for ; uintptr(unsafe.Add(p, n))%8 != 0; n++ {
		if n > most {
			return 0, false
		}
		if *(*byte)(unsafe.Add(p, n)) == 0 {
			return n, true
		}
	}
	for ; n <= most; n += 8 {
		if zero := markZero(wordAt(p, n)); zero != 0 {
			n += bits.TrailingZeros64(zero) / 8
			return n, n <= most
		}
	}
	return 0, false
}
