//go:build asan

package cgocopy

import "unsafe"

// textLength returns the number of bytes before the NUL of the text at p, or false if there are more than
// maxBytes. It reads byte by byte: the address sanitizer reports reads after the NUL.
func textLength(p unsafe.Pointer, maxBytes int) (int, bool) {
	for n := range maxBytes + 1 {
		if *(*byte)(unsafe.Add(p, n)) == 0 {
			return n, true
		}
	}
	return 0, false
}
