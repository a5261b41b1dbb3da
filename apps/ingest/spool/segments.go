package spool

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/tarebench/tare/internal/atomicfile"
)

// segment is a segment on disk.
type segment struct {
	number uint64
	path   string
	size   int64
	header header
	err    error // of its header: errIncomplete, errDamaged
}

// listSegments lists the segments in a directory with a higher number than behind, in their order.
func listSegments(files atomicfile.Disk, dir string, behind uint64) ([]segment, error) {
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
		switch err := g.readHeader(files); {
		case errors.Is(err, fs.ErrNotExist): // freed in the meantime
		case err != nil:
			return nil, err
		default:
			out = append(out, g)
		}
	}
	return out, nil
}

// readHeader reads the size and the header.
func (g *segment) readHeader(files atomicfile.Disk) error {
	f, err := files.OpenFile(g.path, atomicfile.ReadOnly)
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

// segmentTail describes the end of a segment.
type segmentTail struct {
	next  uint64 // number after the last event; 0 if there are none
	acked uint64 // all events before it were acknowledged, or can be read
	torn  int64  // bytes after the last complete frame
}

// scanSegment reads a segment to its end.
func scanSegment(files atomicfile.Disk, g segment) (e segmentTail, err error) {
	f, err := files.OpenFile(g.path, atomicfile.ReadOnly)
	if err != nil {
		return e, err
	}
	defer f.Close()
	w := window{file: f}
	at, hole := int64(headerSize), false // in the last group
	// After a damaged header frames may begin earlier: a reader looks for them from the first byte
	// on, too.
	if g.err != nil {
		first, found, err := w.findFrame(0, 0)
		if err != nil {
			return e, err
		}
		if found {
			at = min(at, first)
		}
	}
	for group := uint64(0); ; {
		f, err := w.readFrame(at)
		switch {
		case err == nil:
			if hole = hole && f.group <= group; !hole {
				e.acked = max(e.acked, f.end())
			}
			group = f.group
			e.next, at = max(e.next, f.end()), at+f.size()
			continue
		case errors.Is(err, errDamaged):
			next, found, err := w.findFrame(at+1, e.next)
			if err != nil {
				return e, err
			}
			if found {
				f, err := w.readFrame(next)
				if err != nil {
					return e, err
				}
				at, hole, group = next, f.group <= max(e.next, g.header.first), f.group
				continue
			}
		case !errors.Is(err, errIncomplete):
			return e, err
		}
		e.torn = max(0, g.size-at)
		return e, nil
	}
}

// window reads a file through a buffer.
type window struct {
	file atomicfile.Handle
	at   int64 // of the buffer's first byte
	buf  []byte
}

const readAhead = 256 << 10 // bytes of one read

// readFrame reads the frame at an offset. Its lines are valid until the next call.
func (w *window) readFrame(at int64) (frame, error) {
	f, need, err := parseFrame(w.bufferFrom(at))
	// Bad or short bytes may have been completed in the meantime. The head contains the length of
	// the rest.
	for tries := 0; err != nil && tries < 2; tries++ {
		if err := w.fillBuffer(at, need); err != nil {
			return frame{}, err
		}
		f, need, err = parseFrame(w.bufferFrom(at))
	}
	return f, err
}

// bufferFrom returns the bytes of the buffer from an offset on.
func (w *window) bufferFrom(at int64) []byte {
	if at < w.at || at > w.at+int64(len(w.buf)) {
		return nil
	}
	return w.buf[at-w.at:]
}

// fillBuffer reads from an offset on, need bytes or more if there are as many.
func (w *window) fillBuffer(at int64, need int) error {
	size := max(need, readAhead)
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

// findFrame finds the next complete frame with an event from a number on, at an offset or after it.
func (w *window) findFrame(at int64, least uint64) (int64, bool, error) {
	for {
		if err := w.fillBuffer(at, frameSize); err != nil {
			return 0, false, err
		}
		chunk := w.buf
		for i := 0; i+frameSize <= len(chunk); i++ {
			if chunk[i] != frameMagic&0xff {
				continue
			}
			if _, _, err := parseFrame(chunk[i : i+frameSize]); errors.Is(err, errDamaged) {
				continue // it has no head
			}
			from := at + int64(i)
			f, err := w.readFrame(from)
			if err == nil && f.end() > least {
				return from, true, nil
			}
			if err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, errIncomplete) {
				return 0, false, err
			}
			if err := w.fillBuffer(at, frameSize); err != nil {
				return 0, false, err
			}
			chunk = w.buf
		}
		if len(chunk) < readAhead {
			return 0, false, nil
		}
		at += int64(len(chunk) - frameSize + 1)
	}
}
