package error_discarded

import "testing"

func TestUnpack(t *testing.T) {
	dst, src := make([]int, 3), []byte{1, 2, 3}
	if _, err := unpackInto(dst, src); err != nil {
		t.Fatal(err)
	}
	if err := (unpacker{3}).unpack(dst, src); err != nil {
		t.Fatal(err)
	}
	if err := unpackGrown(dst, src); err != nil {
		t.Fatal(err)
	}
}

var unpacked int

func unpackOnce(dst []int, src []byte) int {
	n, _ := unpackInto(dst, src) // want `the error of unpackInto is discarded in the loop, and unpackInto fails because dst has length 0`
	return n
}

func tryUnpack(dst []int, src []byte) error { return unpacker{3}.unpack(dst, src) }

func BenchmarkUnpack(b *testing.B) {
	src, buf := []byte{1, 2, 3}, make([]int, 3)
	for _, size := range []int{1, 3} {
		dst := make([]int, 0, size)
		unpack := func() int {
			n, _ := unpackInto(dst, src) // want `unpackInto fails because dst has length 0`
			return n
		}
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				unpacked = unpack()
				unpacked = unpackOnce(dst, src)
				unpacker{3}.unpack(buf[:0], src) // want `unpack fails because buf\[:0\] has length 0`
				_ = tryUnpack(dst, src)          // want `the error of tryUnpack is discarded in the loop, and unpack fails because dst has length 0`
			}
		})
	}
}

// Slices that are long enough, or made longer, or short on purpose.
func BenchmarkUnpackFull(b *testing.B) {
	src, dst, empty := []byte{1, 2, 3}, make([]int, 3), make([]int, 0, 3)
	grown := make([]int, 0, 3)
	grown = grown[:3]
	for b.Loop() {
		unpacked, _ = unpackInto(dst, src)
		unpacked, _ = unpackInto(grown, src)
		unpackGrown(empty, src)
	}
}

func BenchmarkUnpackShort(b *testing.B) {
	src, empty := []byte{1, 2, 3}, make([]int, 0, 3)
	for b.Loop() {
		unpacked, _ = unpackInto(empty, src)
	}
}
