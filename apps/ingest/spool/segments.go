package spool

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/tarebench/tare/internal/whole"
)

// segment is one on disk.
type segment struct {
	number uint64
	path   string
	size   int64
	header header
	err    error // of its header: errShort, errBad
}

// segments lists those in a directory behind a number, by theirs.
func segments(files whole.Disk, dir string, behind uint64) ([]segment, error) {
	names, err := files.List(dir)
	if err != nil {
		return nil, err
	}
	var list []segment
	for _, name := range names {
		if n, ok := segmentNumber(name); ok && n > behind {
			list = append(list, segment{number: n, path: segmentPath(dir, n)})
		}
	}
	slices.SortFunc(list, func(a, b segment) int { return int(int64(a.number) - int64(b.number)) })
	out := list[:0]
	for _, g := range list {
		switch err := g.read(files); {
		case errors.Is(err, fs.ErrNotExist): // freed in the meantime
		case err != nil:
			return nil, err
		default:
			out = append(out, g)
		}
	}
	return out, nil
}

// read reads the size and the header.
func (g *segment) read(files whole.Disk) error {
	f, err := files.OpenFile(g.path, whole.ReadOnly)
	if err != nil {
		return err
	}
	defer f.Close()
	if g.size, err = f.Size(); err != nil {
		return err
	}
	b := make([]byte, min(headerSize, g.size))
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	g.header, g.err = parseHeader(b)
	return nil
}

// end is what is at the end of a segment.
type end struct {
	next  uint64 // number behind the last event; zero: there are none
	acked uint64 // all events before it were acknowledged, or can be read
	torn  int64  // bytes behind the last whole frame
}

// scan reads a segment to its end.
func scan(files whole.Disk, g segment) (e end, err error) {
	f, err := files.OpenFile(g.path, whole.ReadOnly)
	if err != nil {
		return e, err
	}
	defer f.Close()
	w := window{file: f}
	at, hole := int64(headerSize), false // in the last group
	// Behind a damaged header frames may begin earlier: a reader looks for them from
	// the first byte on, too.
	if g.err != nil {
		first, found, err := w.search(0, 0)
		if err != nil {
			return e, err
		}
		if found {
			at = min(at, first)
		}
	}
	for group := uint64(0); ; {
		f, err := w.frame(at)
		switch {
		case err == nil:
			if hole = hole && f.group <= group; !hole {
				e.acked = max(e.acked, f.end())
			}
			group = f.group
			e.next, at = max(e.next, f.end()), at+f.size()
			continue
		case errors.Is(err, errBad):
			next, found, err := w.search(at+1, e.next)
			if err != nil {
				return e, err
			}
			if found {
				f, err := w.frame(next)
				if err != nil {
					return e, err
				}
				at, hole, group = next, f.group <= max(e.next, g.header.first), f.group
				continue
			}
		case !errors.Is(err, errShort):
			return e, err
		}
		e.torn = max(0, g.size-at)
		return e, nil
	}
}

// window reads a file through a buffer.
type window struct {
	file whole.Handle
	at   int64 // of the buffer's first byte
	buf  []byte
}

const ahead = 256 << 10 // bytes that are read at once

// frame reads the frame at an offset. Its lines are good until the next call.
func (w *window) frame(at int64) (frame, error) {
	f, need, err := parseFrame(w.from(at))
	// What was bad or short may have been written in the meantime. The head
	// says how long the rest is.
	for tries := 0; err != nil && tries < 2; tries++ {
		if err := w.fill(at, need); err != nil {
			return frame{}, err
		}
		f, need, err = parseFrame(w.from(at))
	}
	return f, err
}

// from is what the buffer has from an offset on.
func (w *window) from(at int64) []byte {
	if at < w.at || at > w.at+int64(len(w.buf)) {
		return nil
	}
	return w.buf[at-w.at:]
}

// fill reads from an offset on, need bytes or more where there are as many.
func (w *window) fill(at int64, need int) error {
	size := max(need, ahead)
	if cap(w.buf) < size || cap(w.buf) > 4*size {
		w.buf = make([]byte, size)
	}
	w.buf = w.buf[:size]
	n, err := w.file.ReadAt(w.buf, at)
	w.at, w.buf = at, w.buf[:n]
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// search finds the next whole frame with an event from a number on, at an offset
// or behind it.
func (w *window) search(at int64, least uint64) (int64, bool, error) {
	for {
		if err := w.fill(at, frameSize); err != nil {
			return 0, false, err
		}
		chunk := w.buf
		for i := 0; i+frameSize <= len(chunk); i++ {
			if chunk[i] != frameMagic&0xff {
				continue
			}
			if _, _, err := parseFrame(chunk[i : i+frameSize]); errors.Is(err, errBad) {
				continue // its head is none
			}
			from := at + int64(i)
			f, err := w.frame(from)
			if err == nil && f.end() > least {
				return from, true, nil
			}
			if err != nil && !errors.Is(err, errBad) && !errors.Is(err, errShort) {
				return 0, false, err
			}
			if err := w.fill(at, frameSize); err != nil {
				return 0, false, err
			}
			chunk = w.buf
		}
		if len(chunk) < ahead {
			return 0, false, nil
		}
		at += int64(len(chunk) - frameSize + 1)
	}
}
