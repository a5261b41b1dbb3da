package cgocopy

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// chunk is how many bytes an arena takes at once.
const chunk = 16 << 10

// Arena makes strings of a batch from a few pieces of memory. Any of those
// strings keeps its piece, of at most 16 KiB, alive. The zero value works, and
// a nil arena makes every string by itself. Generated code holds one per batch.
type Arena struct {
	free []byte
	next int // bytes of the next piece
}

// NewArena is an arena for n values with about size bytes of text each.
func NewArena(n, size int) Arena {
	if n >= chunk || size >= chunk {
		return Arena{next: chunk}
	}
	return Arena{next: min(n*size, chunk)}
}

// string is a copy of b.
func (a *Arena) string(b []byte) string {
	if a == nil || len(b) == 0 || len(b) > chunk/8 {
		return string(b)
	}
	if cap(a.free)-len(a.free) < len(b) {
		if a.next <= 0 {
			a.next = chunk
		}
		a.free = make([]byte, 0, max(a.next, len(b)))
		a.next = min(2*a.next, chunk)
	}
	from := len(a.free)
	a.free = append(a.free, b...)
	return unsafe.String(&a.free[from], len(b))
}

// Where a char[n] is no longer than shortChars, and the text before was shorter
// than shortText, its NUL is looked for by words: most texts are so short that
// the call of a faster search costs more than it saves.
const (
	shortChars = 64
	shortText  = 16
)

// Chars is the text in a char[n] at p: up to its NUL, or all of it. It never
// reads byte n. old is returned where it is the same text.
func (a *Arena) Chars(old string, p unsafe.Pointer, n int) string {
	var b []byte
	if n <= shortChars && len(old) < shortText {
		b = unsafe.Slice((*byte)(p), nul(p, n))
	} else {
		b = unsafe.Slice((*byte)(p), n)
		if end := bytes.IndexByte(b, 0); end >= 0 {
			b = b[:end]
		}
	}
	if string(b) == old {
		return old
	}
	return a.string(b)
}

// nul is how many bytes come before the first NUL of the n at p.
func nul(p unsafe.Pointer, n int) int {
	i := 0
	for ; i+8 <= n; i += 8 {
		if zero := zeros(p, i); zero != 0 {
			return i + bits.TrailingZeros64(zero)/8
		}
	}
	for ; i < n && *(*byte)(unsafe.Add(p, i)) != 0; i++ {
	}
	return i
}

// zeros marks the lowest NUL among the eight bytes at p+i: the lowest bit that
// is set is the highest of that byte.
func zeros(p unsafe.Pointer, i int) uint64 {
	// A byte of w is zero where taking 1 from it borrows and its top bit was not
	// set: Henry S. Warren, Hacker's Delight, 6-1.
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	w := binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:])
	return (w - ones) &^ w & tops
}

// Text is the text that a char * points to, up to its NUL; a nil pointer is no
// text. It fails where there is none in the first most bytes and the one behind
// them, and touches nothing behind the NUL but the rest of an aligned word. old
// is returned where it is the same text.
func (a *Arena) Text(old string, p unsafe.Pointer, most int) (string, error) {
	if p == nil {
		return "", nil
	}
	n, ok := length(p, most)
	if !ok {
		return "", ErrTooLong
	}
	b := unsafe.Slice((*byte)(p), n)
	if string(b) == old {
		return old, nil
	}
	return a.string(b), nil
}

// ValidUTF8 is text with every byte that is no part of a character replaced by
// U+FFFD.
func ValidUTF8(text string) string { return strings.ToValidUTF8(text, "�") }

// CheckUTF8 fails where text is not UTF-8.
func CheckUTF8(text string) error {
	if !utf8.ValidString(text) {
		return ErrUTF8
	}
	return nil
}

// Counted is the text of n bytes at p, NULs among them included. old is returned
// where it is the same text.
func (a *Arena) Counted(old string, p unsafe.Pointer, n int) string {
	if n == 0 {
		return ""
	}
	b := unsafe.Slice((*byte)(p), n)
	if string(b) == old {
		return old
	}
	return a.string(b)
}
