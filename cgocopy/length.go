//go:build !asan

package cgocopy

import "unsafe"

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
	// A byte of w is zero where taking 1 from it borrows and its top bit was not
	// set: Henry S. Warren, Hacker's Delight, 6-1.
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; n <= most; n += 8 {
		w := *(*uint64)(unsafe.Add(p, n))
		if (w-ones)&^w&tops == 0 {
			continue
		}
		for ; *(*byte)(unsafe.Add(p, n)) != 0; n++ {
		}
		return n, n <= most
	}
	return 0, false
}
