package unlike_work

import (
	"encoding/binary"
	"io"
)

// batch collects numbers, and seal encodes them.
type batch struct {
	numbers []uint32
	buf     []byte
}

func newBatch(n int) *batch { return &batch{numbers: make([]uint32, 0, n)} }

func (f *batch) Add(numbers ...uint32) { f.numbers = append(f.numbers, numbers...) }
func (f *batch) Size() int             { return 4 * len(f.numbers) }

func (f *batch) Seal() []byte {
	for _, n := range f.numbers {
		f.buf = binary.LittleEndian.AppendUint32(f.buf, n)
	}
	return f.buf
}

// walk reads numbers one by one.
type walk struct {
	data []byte
	at   int
}

func newWalk(data []byte) *walk { return &walk{data: data} }

func (w *walk) Next() bool { w.at += 4; return w.at < len(w.data) }
func (w *walk) Err() error { return nil }

func (w *walk) Number() (digits []byte) {
	for _, c := range w.data[w.at : w.at+4] {
		digits = append(digits, c+'0')
	}
	return digits
}

func decodeAll(data []byte) (out []uint32) {
	for len(data) >= 4 {
		out = append(out, binary.LittleEndian.Uint32(data))
		data = data[4:]
	}
	return out
}

// note keeps its encoding.
type note struct {
	text string
	wire []byte
}

func (n *note) Wire() ([]byte, error) {
	if n.wire == nil {
		n.wire = []byte(n.text)
	}
	return n.wire, nil
}

func (n *note) Encode() ([]byte, error) { return []byte(n.text), nil }

// WriteTo encodes the note each time.
func (n *note) WriteTo(w io.Writer) (int64, error) {
	written, err := io.WriteString(w, n.text)
	return int64(written), err
}
