//go:build asan

package cgocopy

import "unsafe"

// textLength returns the number of bytes before the NUL of the text at p. It returns false if there are
// more than maxBytes. With the address sanitizer it reads byte by byte: the bytes after the NUL may be
// unallocated.
func textLength(p unsafe.Pointer, maxBytes int) (int, bool) {
	for n := range maxBytes + 1 {
		if *(*byte)(unsafe.Add(p, n)) == 0 {
			return n, true
		}
	}
	return 0, false
}
