package cgocopy

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// chunk is the maximum number of bytes that an arena allocates at once.
const chunk = 16 << 10

// Arena makes the strings of many values from a few chunks of memory. A string keeps its whole chunk, at
// most 16 KiB, in memory. The zero value is ready to use. A nil arena allocates every string separately.
type Arena struct {
	free []byte // current chunk: the strings in it, then free capacity
	next int    // size of the next chunk in bytes; 0 means chunk
}

// NewArena returns an arena for n values with about size bytes of text each.
func NewArena(n, size int) Arena {
	if n >= chunk || size >= chunk {
		return Arena{next: chunk}
	}
	return Arena{next: min(n*size, chunk)}
}

// copyBytes returns a copy of b as a string. A long text gets its own memory.
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

// shortChars is the longest char[n] in which Chars itself looks for the NUL, eight bytes at a time. For
// longer ones bytes.IndexByte is faster.
const shortChars = 64

// Chars returns the text in the char[n] at p: up to its NUL, or all n bytes. If the text equals old, it
// returns old and allocates nothing.
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

// copyChars finds the NUL and copies the text in one pass. The current chunk must have room for n bytes.
func (a *Arena) copyChars(p unsafe.Pointer, n int) string {
	from := len(a.free)
	q := unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.free)), from)
	i := 0
	for ; i+8 <= n; i += 8 {
		w := wordAt(p, i)
		// Bytes after the NUL are copied, too. The next string overwrites them.
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
	hasSameEnd := m == n || m < n && *(*byte)(unsafe.Add(p, m)) == 0
	if !hasSameEnd {
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
	// The last eight bytes are one word, which may overlap the word before it.
	for i := 0; i+8 < m; i += 8 {
		if w := wordAt(p, i); w != wordAt(q, i) || markZero(w) != 0 {
			return false
		}
	}
	w := wordAt(p, m-8)
	return w == wordAt(q, m-8) && markZero(w) == 0
}

// nulIndex returns the index of the first NUL among the n bytes at p, or n.
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

// markZero sets the highest bit of the lowest zero byte of w; lower bits are 0. It returns 0 if w has no
// zero byte.
func markZero(w uint64) uint64 {
	// The formula is from Henry S. Warren, Hacker's Delight, 6-1. It may also mark higher bytes; that does
	// not matter.
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	return (w - ones) &^ w & tops
}

// Text returns the text that the char * p points to, up to its NUL, or "" if p is nil. It returns
// [ErrTooLong] if the text has more than maxBytes bytes. It may read on to the end of an aligned word after
// the NUL. If the text equals old, it returns old and allocates nothing.
func (a *Arena) Text(old string, p unsafe.Pointer, maxBytes int) (string, error) {
	if p == nil {
		return "", nil
	}
	n, ok := textLength(p, maxBytes)
	if !ok {
		return "", ErrTooLong
	}
	b := unsafe.Slice((*byte)(p), n)
	if string(b) == old {
		return old, nil
	}
	return a.copyBytes(b), nil
}

// ValidUTF8 returns text with each run of invalid bytes replaced by U+FFFD.
func ValidUTF8(text string) string { return strings.ToValidUTF8(text, "�") }

// CheckUTF8 returns [ErrUTF8] if text is not valid UTF-8.
func CheckUTF8(text string) error {
	if !utf8.ValidString(text) {
		return ErrUTF8
	}
	return nil
}

// Counted returns the text of n bytes at p, which may contain NULs. If the text equals old, it returns
// old and allocates nothing.
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
