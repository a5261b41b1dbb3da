package cgocopy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// at returns the address of n bytes of memory that contain text. The address modulo eight is rest, and
// there are other bytes around the memory.
func at(text string, n, rest int) unsafe.Pointer {
	room := make([]byte, n+32)
	for i := range room {
		room[i] = 0x5a
	}
	from := 8 - int(uintptr(unsafe.Pointer(&room[0]))%8) + rest
	b := room[from : from+n]
	clear(b[copy(b, text):])
	return unsafe.Pointer(&room[from])
}

// TestChars checks texts up to the NUL, and of all n bytes, at all alignments, with both searches.
func TestChars(t *testing.T) {
	for n := 1; n <= 80; n++ {
		for _, size := range []int{0, 1, n / 2, n - 1, n} {
			for rest := range 8 {
				want := strings.Repeat("é\x01\xff", n)[:min(size, n)]
				p := at(want, n, rest)
				for name, old := range map[string]string{"empty": "", "same": want, "other": "other", "long": strings.Repeat("x", 40)} {
					if got := (*Arena)(nil).Chars(old, p, n); got != want {
						t.Fatalf("n %d, size %d, rest %d, %s: %q, want %q", n, size, rest, name, got, want)
					}
				}
			}
		}
	}
}

// TestCharsAfter checks that the old text does not change the result, without an arena and with arenas
// of several sizes.
func TestCharsAfter(t *testing.T) {
	arenas := map[string]func() *Arena{
		"none": func() *Arena { return nil }, "empty": func() *Arena { return &Arena{} },
		"room": func() *Arena { a := NewArena(1, 500); a.copyBytes([]byte("before")); return &a },
		"full": func() *Arena {
			a := NewArena(1, 40)
			a.copyBytes([]byte("a piece with few bytes left over"))
			return &a
		},
	}
	for n := 1; n <= 70; n++ {
		for size := range n + 1 {
			want := strings.Repeat("abcdefg", 10)[:size]
			p := at(want, n, n%8)
			olds := []string{"", want, want + "h", want + "\x00", strings.Repeat("x", n)}
			for i := range size {
				olds = append(olds, want[:i], want[:i]+"?"+want[i+1:], want[:i]+"\x00"+want[i+1:])
			}
			for name, arena := range arenas {
				for _, old := range olds {
					if got := arena().Chars(old, p, n); got != want {
						t.Fatalf("n %d, arena %s, after %q: %q, want %q", n, name, old, got, want)
					}
				}
			}
		}
	}
}

// TestCharsCut checks that a NUL in the old text does not hide a NUL in C memory.
func TestCharsCut(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for i := range n {
			b := []byte(strings.Repeat("y", n))
			b[i] = 0
			if got := (*Arena)(nil).Chars(string(b), unsafe.Pointer(&b[0]), n); got != strings.Repeat("y", i) {
				t.Fatalf("n %d, NUL at %d: %q", n, i, got)
			}
		}
	}
}

// TestCharsApart checks that the texts of an arena do not overlap.
func TestCharsApart(t *testing.T) {
	a := NewArena(200, 8)
	var want, got []string
	for i := range 1000 {
		text := strings.Repeat(string(rune('a'+i%26)), i%65)
		want = append(want, text)
		got = append(got, a.Chars("", at(text, 64, i%8), 64))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("text %d: %q, want %q", i, got[i], want[i])
		}
	}
}

// TestCharsBytes checks that every byte except NUL is text, also bytes that a wrong search for zero bytes
// takes for NUL.
func TestCharsBytes(t *testing.T) {
	for c := 1; c < 256; c++ {
		for i := range 16 {
			b := []byte(strings.Repeat("\x01", 16))
			b[i] = byte(c)
			if got := (*Arena)(nil).Chars("", unsafe.Pointer(&b[0]), 16); got != string(b) {
				t.Fatalf("byte %d at %d: %q", c, i, got)
			}
		}
	}
}

// TestKept checks that an equal text is the old string itself, not a copy.
func TestKept(t *testing.T) {
	p := at("hello", 16, 0)
	old := (*Arena)(nil).Chars("", p, 16)
	if again := (*Arena)(nil).Chars(old, p, 16); unsafe.StringData(again) != unsafe.StringData(old) {
		t.Error("Chars copied it again")
	}
	again, err := (*Arena)(nil).Text(old, p, 100)
	if err != nil || unsafe.StringData(again) != unsafe.StringData(old) {
		t.Error("Text copied it again")
	}
	if again := (*Arena)(nil).Counted(old, p, 5); unsafe.StringData(again) != unsafe.StringData(old) {
		t.Error("Counted copied it again")
	}
	if n := testing.AllocsPerRun(10, func() { old = (*Arena)(nil).Chars(old, p, 16) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestCopied checks that a text does not change when the C memory changes.
func TestCopied(t *testing.T) {
	b := []byte("hello\x00")
	var a Arena
	one, two := a.Chars("", unsafe.Pointer(&b[0]), 6), (*Arena)(nil).Chars("", unsafe.Pointer(&b[0]), 6)
	b[0] = 'j'
	if one != "hello" || two != "hello" {
		t.Errorf("%q and %q", one, two)
	}
}

func TestText(t *testing.T) {
	if s, err := (*Arena)(nil).Text("old", nil, 10); s != "" || err != nil {
		t.Errorf("nil: %q, %v", s, err)
	}
	for size := range 40 {
		for rest := range 8 {
			want := strings.Repeat("a", size)
			p := at(want, size+1, rest)
			for most := range 45 {
				got, err := (*Arena)(nil).Text("", p, most)
				if size > most {
					if !errors.Is(err, ErrTooLong) {
						t.Fatalf("size %d, most %d, rest %d: %q, %v", size, most, rest, got, err)
					}
				} else if got != want || err != nil {
					t.Fatalf("size %d, most %d, rest %d: %q, %v", size, most, rest, got, err)
				}
			}
		}
	}
}

// TestCounted checks that NULs belong to a counted text.
func TestCounted(t *testing.T) {
	p := at("a\x00b", 3, 1)
	if got := (*Arena)(nil).Counted("", p, 3); got != "a\x00b" {
		t.Errorf("%q", got)
	}
	if got := (*Arena)(nil).Counted("x", nil, 0); got != "" {
		t.Errorf("%q", got)
	}
}

// TestArena checks that chunks have at most 16 KiB, that a small batch takes a small chunk, and that the
// texts of an arena do not overlap.
func TestArena(t *testing.T) {
	a := NewArena(3, 10)
	p := at("0123456789", 11, 0)
	if got := a.Chars("", p, 11); got != "0123456789" || cap(a.free) != 30 {
		t.Errorf("%q from a piece of %d bytes", got, cap(a.free))
	}
	a = NewArena(1<<40, 1<<40)
	var all []string
	most := 0
	for i := range 20000 {
		text := fmt.Sprint(i)
		all = append(all, a.Chars("", at(text, 8, 0), 8))
		most = max(most, cap(a.free))
	}
	if most > chunk || most < chunk/2 {
		t.Errorf("a piece has %d bytes", most)
	}
	for i, s := range all {
		if s != fmt.Sprint(i) {
			t.Fatalf("text %d is %q", i, s)
		}
	}
	if n := testing.AllocsPerRun(20, func() {
		a := NewArena(100, 8)
		for range 100 {
			a.Chars("", p, 8)
		}
	}); n != 1 {
		t.Errorf("%v allocations for 100 texts", n)
	}
	long := strings.Repeat("x", chunk/8+1)
	before := len(a.free)
	if got := a.Counted("", at(long, len(long), 0), len(long)); got != long || len(a.free) != before {
		t.Error("a long text takes up an arena")
	}
	var zero Arena
	if got := zero.Chars("", p, 11); got != "0123456789" || cap(zero.free) != chunk {
		t.Errorf("%q from a piece of %d bytes", got, cap(zero.free))
	}
}

func TestUTF8(t *testing.T) {
	if got := ValidUTF8("a\xffb\xc3"); got != "a�b�" {
		t.Errorf("%q", got)
	}
	if err := CheckUTF8("a\xff"); !errors.Is(err, ErrUTF8) {
		t.Errorf("%v", err)
	}
	if err := CheckUTF8("é"); err != nil {
		t.Errorf("%v", err)
	}
}
