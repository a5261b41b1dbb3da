//go:build !asan

package cgocopy

import (
	"math/bits"
	"unsafe"
)

// length is how many bytes come before the NUL at p, of at most most. It looks
// at aligned words of eight bytes, which never lie in two pages: what is behind
// the NUL's word need not be there.
func length(p unsafe.Pointer, most int) (int, bool) {
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
		if zero := zeros(word(p, n)); zero != 0 {
			n += bits.TrailingZeros64(zero) / 8
			return n, n <= most
		}
	}
	return 0, false
}
