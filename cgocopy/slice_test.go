package cgocopy

import (
	"errors"
	"math"
	"testing"
	"unsafe"
)

func TestCount(t *testing.T) {
	var x [1]int32
	p := unsafe.Pointer(&x)
	bad := func(name string, n int, err error, want string) {
		t.Helper()
		var b *BadCountError
		if !errors.Is(err, ErrBadCount) || !errors.As(err, &b) || err.Error() != want || n != 0 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	n, err := Count("L.n", p, int32(-1), 10)
	bad("negative", n, err, "L.n is -1")
	n, err = Count("L.n", p, int64(math.MinInt64), 10)
	bad("smallest", n, err, "L.n is -9223372036854775808")
	n, err = Count("L.n", p, uint8(11), 10)
	bad("too many", n, err, "L.n is 11, at most 10 are copied")
	n, err = Count("L.n", nil, uint8(1), 10)
	bad("nil", n, err, "L.n is 1, and what it counts is a nil pointer")
	n, err = Count("L.n", p, uint64(math.MaxUint64), math.MaxInt64)
	bad("more than int64", n, err, "L.n is -1")
	n, err = Count("L.n", p, uint64(1)<<63, math.MaxInt64)
	bad("one more than int64", n, err, "L.n is -9223372036854775808")
	for _, want := range []int{0, 1, 10} {
		if n, err := Count("L.n", p, uint32(want), 10); n != want || err != nil {
			t.Errorf("%d: %d, %v", want, n, err)
		}
	}
	if n, err := Count("L.n", nil, 0+int8(0), 10); n != 0 || err != nil {
		t.Errorf("nothing: %d, %v", n, err)
	}
}

// TestResize checks that existing elements stay, and that Resize uses existing room.
func TestResize(t *testing.T) {
	if got := Resize[int](nil, 0); got != nil {
		t.Errorf("%v", got)
	}
	s := []string{"a", "b", "c"}
	if got := Resize(s, 2); len(got) != 2 || &got[0] != &s[0] {
		t.Errorf("%v", got)
	}
	if got := Resize(s[:1], 3); got[2] != "c" {
		t.Errorf("%v", got)
	}
	if got := Resize(s, 5); len(got) != 5 || got[1] != "b" || &got[0] == &s[0] {
		t.Errorf("%v", got)
	}
}

func TestValues(t *testing.T) {
	x := [3]int32{1, 2, 3}
	got := Values[int32](nil, unsafe.Pointer(&x), 3)
	if len(got) != 3 || got[2] != 3 {
		t.Errorf("%v", got)
	}
	if got := Values(got, nil, 0); len(got) != 0 || cap(got) != 3 {
		t.Errorf("%v", got)
	}
}

func TestBits(t *testing.T) {
	for _, width := range []int{1, 2, 7, 8, 9, 31, 57} {
		for bit := range 8 {
			b := [12]byte{0xff, 0xa5, 0xff, 0xa5, 0xff, 0xa5, 0xff, 0xa5, 0xff, 0xa5, 0xff, 0xa5}
			before := b
			want := uint64(0x0123456789abcdef) & (1<<width - 1)
			PutBits(unsafe.Pointer(&b), bit, width, want)
			size := (bit + width + 7) / 8
			if got := Bytes(unsafe.Pointer(&b), size) >> bit & (1<<width - 1); size <= 8 && got != want {
				t.Errorf("%d bits from %d: %#x, want %#x", width, bit, got, want)
			}
			for i := range 96 { // the others stay
				if i < bit || i >= bit+width {
					if (b[i/8]^before[i/8])>>(i%8)&1 != 0 {
						t.Fatalf("%d bits from %d: bit %d has changed", width, bit, i)
					}
				}
			}
		}
	}
	if Bit(true) != 1 || Bit(false) != 0 {
		t.Error("Bit")
	}
}

func TestPutChars(t *testing.T) {
	b := []byte("xxxxxxxx")
	if err := PutChars(unsafe.Pointer(&b[0]), 6, "abc"); err != nil || string(b) != "abc\x00\x00\x00xx" {
		t.Errorf("%q, %v", b, err)
	}
	if err := PutChars(unsafe.Pointer(&b[0]), 3, "abc"); !errors.Is(err, ErrTooLong) {
		t.Errorf("%v", err)
	}
}

// TestPointer checks that Pointer reads pointers at unaligned addresses.
func TestPointer(t *testing.T) {
	var x int
	var room [24]byte
	for i := range 9 {
		p := unsafe.Pointer(&room[i])
		*(*[unsafe.Sizeof(p)]byte)(p) = *(*[unsafe.Sizeof(p)]byte)(unsafe.Pointer(&[]unsafe.Pointer{unsafe.Pointer(&x)}[0]))
		if Pointer(p) != unsafe.Pointer(&x) {
			t.Errorf("at %d", i)
		}
	}
}

func TestCheckABI(t *testing.T) {
	want := []ABI{{"sizeof(A)", 16}, {"offsetof(A, b)", 8}}
	table := []uint64{77, 2, 16, 8}
	if err := CheckABI(unsafe.Pointer(&table[0]), 77, want); err != nil {
		t.Error(err)
	}
	for name, tt := range map[string]struct {
		table []uint64
		says  string
	}{
		"moved":   {[]uint64{77, 2, 16, 12}, "the library has offsetof(A, b) = 12, and this program was generated for 8"},
		"others":  {[]uint64{78, 2, 16, 8}, "the library describes other members than this program was generated for: generate both again"},
		"a count": {[]uint64{77, 3, 16, 8, 1}, "the library describes other members than this program was generated for: generate both again"},
	} {
		var e *ABIError
		if err := CheckABI(unsafe.Pointer(&tt.table[0]), 77, want); !errors.As(err, &e) || err.Error() != tt.says {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckABI(nil, 77, want); !errors.Is(err, ErrNilPointer) {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		says string
	}{
		{In("A.b", ErrTooLong), "A.b: text without an end within its limit"},
		{&UnionError{Field: "A.kind", N: 3}, "A.kind is 3, for which the union has no member"},
		{&CodeError{Func: "f", Code: -2}, "f returned -2"},
		{&CodeError{Func: "f", Code: -2, Text: "no such thing"}, "f: no such thing (-2)"},
	} {
		if tt.err.Error() != tt.says {
			t.Errorf("%q, want %q", tt.err, tt.says)
		}
	}
	if In("A.b", nil) != nil || !errors.Is(In("A.b", ErrTooLong), ErrTooLong) {
		t.Error("In")
	}
}

type pair struct{ A, B int32 }

func (d *pair) FromC(p unsafe.Pointer) error {
	if p == nil {
		return ErrNilPointer
	}
	*d = *(*pair)(p)
	return nil
}

func (*pair) SliceFromC(dst []pair, p unsafe.Pointer, n int) ([]pair, error) {
	return Values(dst, p, n), nil
}

func TestCopy(t *testing.T) {
	x := []pair{{1, 2}, {3, 4}}
	if got, err := Copy[pair](unsafe.Pointer(&x[0])); err != nil || got != x[0] {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Copy[pair](nil); !errors.Is(err, ErrNilPointer) {
		t.Error(err)
	}
	if got, err := CopySlice[pair](unsafe.Pointer(&x[0]), 2); err != nil || len(got) != 2 || got[1] != x[1] {
		t.Errorf("%v, %v", got, err)
	}
}
