// Package elsewhere has a benchmark for the tests of others.
package elsewhere

import "testing"

func Bench(b *testing.B) {
	for b.Loop() {
		b.SetBytes(1)
	}
}
