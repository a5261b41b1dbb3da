// Package textfile reads a text file by its content, not by its name: it unpacks
// gzip, bzip2 and zstd, and converts UTF-16 to UTF-8. Commands use it for
// all text files of users.
package textfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Bounds of compressed files.
const (
	maxLayers   = 3         // compressed files in compressed files
	maxUnpacked = 16 << 30  // bytes of text
	maxWindow   = 128 << 20 // bytes of zstd's window: zstd --long=27
	peekSize    = 1 << 20   // bytes that callers can peek at
)

// Byte order marks, with which a text may begin.
const (
	markUTF8    = "\xef\xbb\xbf"
	markUTF16LE = "\xff\xfe"
	markUTF16BE = "\xfe\xff"
	markUTF32LE = "\xff\xfe\x00\x00" // begins like markUTF16LE
	markUTF32BE = "\x00\x00\xfe\xff"
)

// File is the text of a file in UTF-8, without a byte order mark. The bytes of a text that is not
// UTF-16 stay unchanged, even if they are not valid UTF-8.
type File struct {
	*bufio.Reader          // Peek returns up to a MiB
	found         []string // removed encodings, the outermost first
}

// Open detects the format of r. Its errors are one line without the file's name.
func Open(r io.Reader) (*File, error) {
	f := &File{Reader: bufio.NewReader(r)}
	for range maxLayers + 1 {
		begin, err := f.Peek(16)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		name, unpack := findFormat(begin)
		if name == "" {
			if err := f.decodeMark(begin); err != nil {
				return nil, err
			}
			f.Reader = bufio.NewReaderSize(f.Reader, peekSize)
			return f, nil
		}
		if len(f.found) == maxLayers {
			break
		}
		unpacked, err := unpack(f.Reader)
		if err != nil {
			return nil, err
		}
		f.found = append(f.found, name)
		f.Reader = bufio.NewReader(&unpacker{r: unpacked, format: name, left: maxUnpacked})
	}
	return nil, fmt.Errorf("compressed more than %d times", maxLayers)
}

// Found returns the removed encodings, e.g. "gzip, UTF-16", or "" if there were none.
func (f *File) Found() string { return strings.Join(f.found, ", ") }

// findFormat returns the name of the compression of a file that starts with begin, and a function
// that unpacks the file. The name is "" for uncompressed text. For formats that tare does not read,
// the function returns an error.
func findFormat(begin []byte) (name string, unpack func(io.Reader) (io.Reader, error)) {
	refuse := func(format, command string) func(io.Reader) (io.Reader, error) {
		return func(io.Reader) (io.Reader, error) {
			return nil, fmt.Errorf("the file is compressed (%s), which is not read; unpack it first, e.g. by %s", format, command)
		}
	}
	has := func(prefix string) bool { return bytes.HasPrefix(begin, []byte(prefix)) }
	switch {
	case has("\x1f\x8b\x08"):
		return "gzip", func(r io.Reader) (io.Reader, error) {
			z, err := gzip.NewReader(r) // reads the header
			if err != nil {
				err = damagedError("gzip", err)
			}
			return z, err
		}
	case has("\x28\xb5\x2f\xfd"):
		return "zstd", func(r io.Reader) (io.Reader, error) {
			// With a concurrency of one the decoder has no goroutines, and needs no Close.
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		}
	case has("BZh") && len(begin) >= 10 && isBzip2Block(string(begin[4:10])):
		return "bzip2", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }
	case has("\xfd7zXZ\x00"):
		return "xz", refuse("xz", "xz -dc")
	case has("PK\x03\x04"):
		return "zip", refuse("zip", "unzip -p")
	}
	return "", nil
}

// isBzip2Block reports whether six bytes mark a block of bzip2, by the digits of π, or the end of an
// empty file, by the digits of its square root.
func isBzip2Block(mark string) bool {
	return mark == "1AY&SY" || mark == "\x17\x72\x45\x38\x50\x90"
}

// isUnmarkedUTF16 reports whether a text seems to be UTF-16 without a mark: every second one of its
// first four bytes is zero, as for Latin letters.
func isUnmarkedUTF16(begin []byte) bool {
	if len(begin) < 4 {
		return false
	}
	isZero := func(i int) bool { return begin[i] == 0 }
	return isZero(0) != isZero(1) && isZero(0) == isZero(2) && isZero(1) == isZero(3)
}

// decodeMark removes the byte order mark from f, which starts with begin, and converts UTF-16 to UTF-8.
func (f *File) decodeMark(begin []byte) error {
	has := func(prefix string) bool { return bytes.HasPrefix(begin, []byte(prefix)) }
	var order binary.ByteOrder
	switch {
	case has(markUTF32LE), has(markUTF32BE):
		return errors.New("the file is UTF-32; convert it, e.g. iconv -f UTF-32 -t UTF-8")
	case has(markUTF8):
		f.found = append(f.found, "a byte order mark")
		_, err := f.Discard(len(markUTF8))
		return err
	case has(markUTF16LE):
		order = binary.LittleEndian
	case has(markUTF16BE):
		order = binary.BigEndian
	case isUnmarkedUTF16(begin):
		return errors.New("the file is perhaps UTF-16 without a byte order mark; convert it, e.g. iconv -f UTF-16LE -t UTF-8")
	default:
		return nil
	}
	f.found = append(f.found, "UTF-16")
	if _, err := f.Discard(2); err != nil {
		return err
	}
	f.Reader = bufio.NewReader(&utf16Reader{r: f.Reader, order: order, read: 2})
	return nil
}

// unpacker reads the content of a compressed file. It fails after a number of bytes, because a small
// file can unpack to any size.
type unpacker struct {
	r      io.Reader
	format string
	left   int64 // number of bytes that may still be read
}

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if u.left -= int64(n); u.left < 0 {
		return 0, fmt.Errorf("more than %d bytes unpacked", int64(maxUnpacked))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = damagedError(u.format, err)
	}
	return n, err
}

// damagedError returns the error of an incomplete or invalid compressed file.
func damagedError(format string, err error) error {
	return fmt.Errorf("the file is damaged or cut off (%s: %w)", format, err)
}
