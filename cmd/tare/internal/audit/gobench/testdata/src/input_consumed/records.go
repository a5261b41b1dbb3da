package input_consumed

import (
	"bufio"
	"io"
)

type record struct{ size int }

// records reads a line for each record.
type records struct {
	lines *bufio.Reader
	n     int
}

func newRecords(r io.Reader) *records { return &records{lines: bufio.NewReader(r)} }

func (r *records) Reset(src io.Reader) { r.lines.Reset(src) }

func (r *records) Next() (record, error) {
	line, err := r.lines.ReadString('\n')
	if err != nil {
		return record{}, err
	}
	r.n++
	return record{len(line)}, nil
}

// walker has the elements of a list.
type walker struct {
	list []int
	at   int
}

func newWalker(list []int) *walker { return &walker{list: list, at: -1} }

func (w *walker) Next() bool {
	w.at++
	return w.at < len(w.list)
}

func (w *walker) Value() int { return w.list[w.at] }

// ring begins again at its end.
type ring struct {
	list []int
	at   int
}

func newRing(list []int) *ring { return &ring{list: list} }

func (r *ring) Next() bool {
	if r.at == len(r.list) {
		r.at = 0
		return false
	}
	r.at++
	return true
}
