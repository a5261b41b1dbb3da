//go:build asan

package cgocopy

import "unsafe"

// textLength returns how many bytes come before the NUL at p, of at most most. With the address
// sanitizer it reads one byte after another: the rest of a word may be unallocated.
func textLength(p unsafe.Pointer, most int) (int, bool) {
	for n := range most + 1 {
		if *(*byte)(unsafe.Add(p, n)) == 0 {
			return n, true
		}
	}
	return 0, false
}
