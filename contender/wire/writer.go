package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Writer writes one side of the protocol, each message as one line and one Write. It is not safe for
// concurrent use.
type Writer struct {
	out io.Writer
	buf bytes.Buffer
	enc *json.Encoder
}

// NewWriter writes lines to w.
func NewWriter(w io.Writer) *Writer {
	writer := &Writer{out: w}
	writer.enc = json.NewEncoder(&writer.buf)
	writer.enc.SetEscapeHTML(false)
	return writer
}

// Request writes q. If the line would be longer than [MaxLine], it returns a [*LineError] and
// writes nothing.
func (w *Writer) Request(q Request) error { return w.writeLine(&q) }

// Reply writes a. It returns the same errors as [Writer.Request].
func (w *Writer) Reply(a Reply) error { return w.writeLine(&a) }

// maxRetained limits a buffer that stays allocated, in bytes. Most lines are small, but answers can be large.
const maxRetained = 64 << 10

func (w *Writer) writeLine(v any) error {
	w.buf.Reset()
	if err := w.enc.Encode(v); err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	line := w.buf.Bytes()
	if len(line) > MaxLine+len("\n") {
		err := &LineError{fmt.Sprintf("message of %d bytes does not fit a line of %d", len(line)-1, MaxLine), lineHead(line)}
		w.dropLarge()
		return err
	}
	_, err := w.out.Write(line)
	w.dropLarge()
	return err
}

func (w *Writer) dropLarge() {
	if w.buf.Cap() > maxRetained {
		w.buf = bytes.Buffer{}
	}
}
