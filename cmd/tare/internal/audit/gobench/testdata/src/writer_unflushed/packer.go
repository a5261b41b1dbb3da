package writer_unflushed

import (
	"compress/gzip"
	"io"
)

// packer compresses, and can be used again.
type packer interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

func newPacker(w io.Writer, level int) (packer, error) { return gzip.NewWriterLevel(w, level) }
