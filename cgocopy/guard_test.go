//go:build linux

package cgocopy

import (
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// guarded maps memory that ends at a page without read permission. edge(n) returns the address of the
// last n bytes before that page.
func guarded(t *testing.T) (edge func(n int) unsafe.Pointer) {
	t.Helper()
	page := os.Getpagesize()
	b, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("mmap: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	if err := syscall.Mprotect(b[2*page:], syscall.PROT_NONE); err != nil {
		t.Skipf("mprotect: %v", err)
	}
	for i := range b[:2*page] {
		b[i] = 'x'
	}
	return func(n int) unsafe.Pointer { return unsafe.Pointer(&b[2*page-n]) }
}

// faults runs f, and reports a test error if f reads memory that it may not read.
func faults(t *testing.T, name string, f func()) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: %v", name, r)
		}
	}()
	f()
}

// TestGuardWorks checks that reading the page behind the edge fails.
func TestGuardWorks(t *testing.T) {
	edge := guarded(t)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			t.Error("nothing happens behind the edge")
		}
	}()
	t.Log(*(*byte)(unsafe.Add(edge(1), 1)))
}

// TestGuard checks that no function reads behind a char[N], an array, or the NUL of a text, if these end
// where memory ends.
func TestGuard(t *testing.T) {
	edge := guarded(t)
	for n := 1; n <= 200; n++ {
		p := edge(n)
		for _, old := range []string{"", strings.Repeat("x", n), strings.Repeat("y", 20)} {
			faults(t, "Chars", func() {
				if got := (*Arena)(nil).Chars(old, p, n); len(got) != n {
					t.Errorf("%d of %d bytes", len(got), n)
				}
			})
			faults(t, "Chars with an arena", func() {
				a := NewArena(1, 1000)
				if got := a.Chars(old, p, n); len(got) != n {
					t.Errorf("%d of %d bytes", len(got), n)
				}
			})
			faults(t, "Counted", func() { (*Arena)(nil).Counted(old, p, n) })
		}
		faults(t, "Text without an end", func() {
			if _, err := (*Arena)(nil).Text("", p, n-1); !errors.Is(err, ErrTooLong) {
				t.Errorf("%d bytes: %v", n, err)
			}
		})
		faults(t, "Values", func() { Values[byte](nil, p, n) })
		if n <= 8 {
			faults(t, "Bytes", func() { Bytes(p, n) })
			faults(t, "PutBits", func() { PutBits(p, 0, 8*n, 0x7878787878787878) })
		}
		faults(t, "PutChars", func() {
			if err := PutChars(p, n, strings.Repeat("x", n-1)); err != nil {
				t.Error(err)
			}
		})
		for _, old := range []string{"", strings.Repeat("x", n-1)} {
			faults(t, "Text", func() {
				if got, err := (*Arena)(nil).Text(old, p, 1000); len(got) != n-1 || err != nil {
					t.Errorf("%d of %d bytes, %v", len(got), n-1, err)
				}
			})
			faults(t, "Chars with a NUL", func() {
				if got := (*Arena)(nil).Chars(old, p, n); len(got) != n-1 {
					t.Errorf("%d of %d bytes", len(got), n-1)
				}
			})
		}
		*(*byte)(unsafe.Add(p, n-1)) = 'x'
	}
	faults(t, "Pointer", func() { Pointer(edge(int(unsafe.Sizeof(uintptr(0))))) })
}
