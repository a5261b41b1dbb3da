// Package elsewhere is imported by the tests of other packages in this directory. They call its Bench, a
// benchmark that is declared in another package than the test.
package elsewhere

import "testing"

func Bench(b *testing.B) {
	for b.Loop() {
		b.SetBytes(1)
	}
}
