package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// LineError is the error of a line that is too long or not one JSON object. The next line can still be read.
type LineError struct {
	What string // reason, e.g. "not a JSON object"
	Head string // first bytes of the line
}

// Error returns the reason and the start of the line in one line.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s: %q", e.What, e.Head)
}

// Reader reads one side of the protocol. It buffers [MaxLine] bytes and is not safe for concurrent use.
type Reader struct {
	in   *bufio.Reader
	line []byte
	skip bool // the rest of a line is skipped
}

// NewReader reads lines from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10)}
}

// Request reads the next request. A line that is no request gives a [*LineError]. The end gives [io.EOF]
// between lines, and [io.ErrUnexpectedEOF] within one.
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

// readMessage reads a line into v. It ignores unknown fields, so that either side may be newer.
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

// readLine returns the next line without its end. Of a line above MaxLine, the next call skips the rest.
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

func lineHead(line []byte) string {
	return string(line[:min(len(line), headBytes)])
}
