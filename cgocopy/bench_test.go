package cgocopy

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// BenchmarkChars copies texts of several lengths from a char[64]. "same" passes the equal text as the old
// one, "new" passes none.
func BenchmarkChars(b *testing.B) {
	for _, size := range []int{0, 8, 16, 32, 63} {
		want := strings.Repeat("x", size)
		p := at(want, 64, 4)
		for name, old := range map[string]string{"same": want, "new": ""} {
			b.Run(fmt.Sprintf("%s=%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				var got string
				for b.Loop() {
					got = (*Arena)(nil).Chars(old, unsafe.Pointer(p), 64)
				}
				if got != want {
					b.Fatal(got)
				}
			})
		}
	}
}
