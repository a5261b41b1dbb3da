//go:build asan

package cgocopy

import "unsafe"

// length is how many bytes come before the NUL at p, of at most most. With the
// address sanitizer it looks at one byte after the other: the rest of a word may
// belong to nobody.
func length(p unsafe.Pointer, most int) (int, bool) {
	for n := range most + 1 {
		if *(*byte)(unsafe.Add(p, n)) == 0 {
			return n, true
		}
	}
	return 0, false
}
