package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// LineError is the error for an invalid line: one that is too long, or not one JSON object. The stream itself
// remains usable, and the next line can be read.
type LineError struct {
	What string // reason, e.g. "not a JSON object"
	Head string // first bytes of the line
}

// Error returns the reason and the start of the line in one line.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s: %q", e.What, e.Head)
}

// Reader reads one side of the protocol, line by line. It buffers at most
// [MaxLine] bytes and is not safe for concurrent use.
type Reader struct {
	in   *bufio.Reader
	line []byte
	skip bool // the next bytes belong to a line that was too long, and must be skipped
}

// NewReader reads lines from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10)}
}

// Request reads the next request. The error is a [*LineError] if the line is not a
// request, [io.EOF] if the other side closed the pipe between two lines, and
// [io.ErrUnexpectedEOF] if it closed the pipe within a line.
func (r *Reader) Request() (Request, error) {
	var q Request
	err := r.readMessage(&q)
	return q, err
}

// Reply reads the next reply. It returns the same errors as [Reader.Request].
func (r *Reader) Reply() (Reply, error) {
	var a Reply
	err := r.readMessage(&a)
	return a, err
}

// readMessage reads a line into v. Fields that v does not have are ignored, so that either side may be the
// newer one.
func (r *Reader) readMessage(v any) error {
	line, err := r.readLine()
	if err != nil {
		return err
	}
	if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
		return &LineError{"not a JSON object", lineHead(line)}
	}
	if err := json.Unmarshal(line, v); err != nil {
		return &LineError{"not a message (" + err.Error() + ")", lineHead(line)}
	}
	return nil
}

// readLine returns the next line without its end. If a line is longer than MaxLine, readLine returns an error without
// reading the rest of the line, which the next call skips.
func (r *Reader) readLine() ([]byte, error) {
	if r.skip {
		if err := r.skipLine(); err != nil {
			return nil, err
		}
	}
	r.line = r.line[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		if len(r.line)+len(part) > MaxLine+len("\n") {
			r.skip = errors.Is(err, bufio.ErrBufferFull)
			first := lineHead(append(r.line, part[:min(len(part), headBytes)]...))
			r.line = nil
			return nil, &LineError{fmt.Sprintf("line longer than %d bytes", MaxLine), first}
		}
		switch {
		case err == nil && len(r.line) == 0:
			return part[:len(part)-1], nil // no copy: valid until the next read
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

// skipLine skips the rest of a line that was too long.
func (r *Reader) skipLine() error {
	for {
		_, err := r.in.ReadSlice('\n')
		switch {
		case err == nil:
			r.skip = false
			return nil
		case errors.Is(err, bufio.ErrBufferFull): // the line continues
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
}

// headBytes is the number of bytes of an invalid line that a LineError contains.
const headBytes = 60

// lineHead returns the first headBytes bytes of line.
func lineHead(line []byte) string {
	return string(line[:min(len(line), headBytes)])
}
