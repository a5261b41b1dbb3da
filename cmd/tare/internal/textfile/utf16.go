package textfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader converts UTF-16 to UTF-8.
type utf16Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	read  int64  // bytes read from r, including the mark
	rest  []byte // bytes of the last character that Read has not returned yet; a part of buf
	buf   [utf8.UTFMax]byte
}

// Read returns the text as UTF-8. It fails at an incomplete unit or surrogate pair.
func (u *utf16Reader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.rest) == 0 {
			if n > 0 && u.r.Buffered() < 4 { // do not block for the next character, of up to four bytes
				return n, nil
			}
			c, err := u.readRune()
			if err != nil {
				return n, err
			}
			u.rest = utf8.AppendRune(u.buf[:0], c)
		}
		copied := copy(p[n:], u.rest)
		n, u.rest = n+copied, u.rest[copied:]
	}
	return n, nil
}

// readRune reads one character: a unit, or a surrogate pair of two.
func (u *utf16Reader) readRune() (rune, error) {
	first, err := u.readUnit()
	if err != nil || !utf16.IsSurrogate(first) {
		return first, err
	}
	second, err := u.readUnit()
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	c := utf16.DecodeRune(first, second)
	if err != nil || c == utf8.RuneError {
		return 0, fmt.Errorf("the text is not UTF-16: half of a surrogate pair before offset %d", u.read)
	}
	return c, nil
}

// readUnit reads one unit of two bytes. The error is [io.EOF] at the end of the text.
func (u *utf16Reader) readUnit() (rune, error) {
	var unit [2]byte
	n, err := io.ReadFull(u.r, unit[:])
	u.read += int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, fmt.Errorf("the text is not UTF-16: it ends after %d bytes, an odd number", u.read)
	}
	return rune(u.order.Uint16(unit[:])), err
}
