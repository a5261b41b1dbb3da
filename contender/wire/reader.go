package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// LineError is a line that is not the protocol: too long, or not one JSON
// object. The stream itself still works, and the next line can be read.
type LineError struct {
	What string // what is wrong, e.g. "not a JSON object"
	Head string // the line's first bytes
}

// Error is one line naming what is wrong and how the line starts.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s: %q", e.What, e.Head)
}

// Reader reads one side of the protocol, line by line. It holds at most
// [MaxLine] bytes and is not safe for concurrent use.
type Reader struct {
	in   *bufio.Reader
	line []byte
	skip bool // the rest of a line that was too long is still to be thrown away
}

// NewReader reads lines from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10)}
}

// Request reads the next request. The error is a [*LineError] for a line that
// is not one, [io.EOF] where the other side closed between two lines, and
// [io.ErrUnexpectedEOF] where it closed within one.
func (r *Reader) Request() (Request, error) {
	var q Request
	err := r.next(&q)
	return q, err
}

// Reply reads the next reply; errors as [Reader.Request].
func (r *Reader) Reply() (Reply, error) {
	var a Reply
	err := r.next(&a)
	return a, err
}

// next reads a line into v. Fields that v does not know are ignored, so that
// either side may be the newer one.
func (r *Reader) next(v any) error {
	line, err := r.read()
	if err != nil {
		return err
	}
	if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
		return &LineError{"not a JSON object", head(line)}
	}
	if err := json.Unmarshal(line, v); err != nil {
		return &LineError{"not a message (" + err.Error() + ")", head(line)}
	}
	return nil
}

// read returns the next line without its end. A line over MaxLine is given up
// as soon as that is known; what is left of it is skipped by the next call.
func (r *Reader) read() ([]byte, error) {
	if r.skip {
		if err := r.discard(); err != nil {
			return nil, err
		}
	}
	r.line = r.line[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		if len(r.line)+len(part) > MaxLine+1 {
			r.skip = errors.Is(err, bufio.ErrBufferFull)
			first := head(append(r.line, part[:min(len(part), headBytes)]...))
			r.line = nil
			return nil, &LineError{fmt.Sprintf("line longer than %d bytes", MaxLine), first}
		}
		switch {
		case err == nil && len(r.line) == 0:
			return part[:len(part)-1], nil // valid until the next read
		case err == nil:
			r.line = append(r.line, part...)
			return r.line[:len(r.line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			r.line = append(r.line, part...)
		case errors.Is(err, io.EOF) && len(r.line)+len(part) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// discard throws the rest of a line away.
func (r *Reader) discard() error {
	for {
		_, err := r.in.ReadSlice('\n')
		switch {
		case err == nil:
			r.skip = false
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
}

// headBytes is how much of a bad line an error shows.
const headBytes = 60

func head(line []byte) string {
	return string(line[:min(len(line), headBytes)])
}
