package cgocopy

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// chunk is the number of bytes that an arena allocates at once.
const chunk = 16 << 10

// Arena makes strings of a batch from a few chunks of memory. Any of those strings keeps its chunk,
// of at most 16 KiB, alive. The zero value works, and a nil arena allocates every string by itself.
// Generated code has one per batch.
type Arena struct {
	free []byte
	next int // bytes of the next piece
}

// NewArena returns an arena for n values with about size bytes of text each.
func NewArena(n, size int) Arena {
	if n >= chunk || size >= chunk {
		return Arena{next: chunk}
	}
	return Arena{next: min(n*size, chunk)}
}

// copyBytes returns a copy of b.
func (a *Arena) copyBytes(b []byte) string {
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

// shortChars is the length of a char[n] up to which its NUL is looked for by
// words: most texts are so short that the call of a faster search costs more than
// it saves.
const shortChars = 64

// Chars returns the text in a char[n] at p: up to its NUL, or all of it. It never reads byte n. It
// returns old if that is the same text.
func (a *Arena) Chars(old string, p unsafe.Pointer, n int) string {
	if old != "" && equalsChars(old, p, n) {
		return old
	}
	if n > shortChars {
		b := unsafe.Slice((*byte)(p), n)
		if end := bytes.IndexByte(b, 0); end >= 0 {
			b = b[:end]
		}
		return a.copyBytes(b)
	}
	if a != nil && cap(a.free)-len(a.free) >= n {
		return a.copyChars(p, n)
	}
	return a.copyBytes(unsafe.Slice((*byte)(p), nulIndex(p, n)))
}

// copyChars returns the text in a char[n], for which there is room: it is copied while its NUL is
// searched.
func (a *Arena) copyChars(p unsafe.Pointer, n int) string {
	from := len(a.free)
	q := unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.free)), from)
	i := 0
	for ; i+8 <= n; i += 8 {
		w := wordAt(p, i)
		*(*[8]byte)(unsafe.Add(q, i)) = *(*[8]byte)(unsafe.Add(p, i))
		if zero := markZero(w); zero != 0 {
			i += bits.TrailingZeros64(zero) / 8
			goto found
		}
	}
	for ; i < n; i++ {
		c := *(*byte)(unsafe.Add(p, i))
		if c == 0 {
			break
		}
		*(*byte)(unsafe.Add(q, i)) = c
	}
found:
	a.free = a.free[:from+i]
	return unsafe.String((*byte)(q), i)
}

// equalsChars reports whether old, which is not empty, is the text in the char[n] at p.
func equalsChars(old string, p unsafe.Pointer, n int) bool {
	m := len(old)
	if m > n || m < n && *(*byte)(unsafe.Add(p, m)) != 0 {
		return false
	}
	q := unsafe.Pointer(unsafe.StringData(old))
	if m < 8 {
		for i := range m {
			c := *(*byte)(unsafe.Add(p, i))
			if c == 0 || c != *(*byte)(unsafe.Add(q, i)) {
				return false
			}
		}
		return true
	}
	for i := 0; i+8 < m; i += 8 {
		if w := wordAt(p, i); w != wordAt(q, i) || markZero(w) != 0 {
			return false
		}
	}
	w := wordAt(p, m-8)
	return w == wordAt(q, m-8) && markZero(w) == 0
}

// nulIndex returns how many bytes come before the first NUL of the n at p.
func nulIndex(p unsafe.Pointer, n int) int {
	i := 0
	for ; i+8 <= n; i += 8 {
		if zero := markZero(wordAt(p, i)); zero != 0 {
			return i + bits.TrailingZeros64(zero)/8
		}
	}
	for ; i < n && *(*byte)(unsafe.Add(p, i)) != 0; i++ {
	}
	return i
}

// wordAt returns the eight bytes at p+i.
func wordAt(p unsafe.Pointer, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:])
}

// markZero marks the lowest NUL among the bytes of w: the lowest set bit is the highest of that
// byte.
func markZero(w uint64) uint64 {
	// A byte of w is zero if subtracting 1 from it borrows and its top bit was not set: Henry S.
	// Warren, Hacker's Delight, 6-1.
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	return (w - ones) &^ w & tops
}

// Text returns the text that a char * points to, up to its NUL, or "" for a nil pointer. It fails
// if there is no NUL in the first most bytes and the next one, and reads nothing after the NUL but
// the rest of an aligned word. It returns old if that is the same text.
func (a *Arena) Text(old string, p unsafe.Pointer, most int) (string, error) {
	if p == nil {
		return "", nil
	}
	n, ok := textLength(p, most)
	if !ok {
		return "", ErrTooLong
	}
	b := unsafe.Slice((*byte)(p), n)
	if string(b) == old {
		return old, nil
	}
	return a.copyBytes(b), nil
}

// ValidUTF8 returns text with every byte that is no part of a character replaced by U+FFFD.
func ValidUTF8(text string) string { return strings.ToValidUTF8(text, "�") }

// CheckUTF8 returns an error if text is not UTF-8.
func CheckUTF8(text string) error {
	if !utf8.ValidString(text) {
		return ErrUTF8
	}
	return nil
}

// Counted returns the text of n bytes at p, including NULs. It returns old if that is the same
// text.
func (a *Arena) Counted(old string, p unsafe.Pointer, n int) string {
	if n == 0 {
		return ""
	}
	b := unsafe.Slice((*byte)(p), n)
	if string(b) == old {
		return old
	}
	return a.copyBytes(b)
}
