package spool

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/tarebench/tare/internal/atomicfile"
)

// segment is a file of a spool, with a header and frames of events; see format.go.
type segment struct {
	number uint64 // from 1; higher for later segments
	path   string
	size   int64  // when it was listed
	header header // zero if err is not nil
	err    error  // header's error: errIncomplete, errDamaged or nil
}

func listSegments(files atomicfile.Disk, dir string, afterNumber uint64) ([]segment, error) {
	names, err := files.List(dir)
	if err != nil {
		return nil, err
	}
	var list []segment
	for _, name := range names {
		if n, ok := segmentNumber(name); ok && n > afterNumber {
			list = append(list, segment{number: n, path: segmentPath(dir, n)})
		}
	}
	slices.SortFunc(list, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	readable := list[:0]
	for _, g := range list {
		switch err := g.readHeader(files); {
		case errors.Is(err, fs.ErrNotExist):
			// A reader has freed it meanwhile.
		case err != nil:
			return nil, err
		default:
			readable = append(readable, g)
		}
	}
	return readable, nil
}

// readHeader sets the header, or err for an invalid one. It only fails if the file cannot be read.
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

type segmentTail struct {
	next  uint64 // number after the last event; 0 without events
	acked uint64 // events below are acknowledged, or readable
	torn  int64  // bytes after the last complete frame
}

// scanSegment reads a segment to find the next number. It skips damage before a complete frame.
func scanSegment(files atomicfile.Disk, g segment) (tail segmentTail, err error) {
	file, err := files.OpenFile(g.path, atomicfile.ReadOnly)
	if err != nil {
		return tail, err
	}
	defer file.Close()
	w := window{file: file}
	offset, err := w.firstOffset(g)
	if err != nil {
		return tail, err
	}
	hasHole := false // the group (the frames of one write) has a damaged frame
	group := uint64(0)
	for {
		f, err := w.readFrame(offset)
		switch {
		case err == nil:
			// A group begins only after the one before is acknowledged.
			hasHole = hasHole && f.group <= group
			if !hasHole {
				tail.acked = max(tail.acked, f.end())
			}
			group = f.group
			tail.next = max(tail.next, f.end())
			offset += f.size()
			continue
		case errors.Is(err, errDamaged):
			next, found, err := w.findFrame(offset+1, tail.next)
			if err != nil {
				return tail, err
			}
			if found {
				f, err := w.readFrame(next)
				if err != nil {
					return tail, err
				}
				// A later group shows that skipped events were acknowledged.
				isSameGroup := f.group <= max(tail.next, g.header.first)
				offset, hasHole, group = next, isSameGroup, f.group
				continue
			}
		case !errors.Is(err, errIncomplete):
			return tail, err
		}
		tail.torn = max(0, g.size-offset)
		return tail, nil
	}
}

// firstOffset returns the offset of the first frame of g, usually after the header. If that is damaged, frames
// may begin earlier.
func (w *window) firstOffset(g segment) (int64, error) {
	if g.err == nil {
		return headerSize, nil
	}
	first, found, err := w.findFrame(0, 0)
	if err != nil || !found {
		return headerSize, err
	}
	return min(headerSize, first), nil
}

type window struct {
	file  atomicfile.Handle
	start int64
	buf   []byte
}

const readAhead = 256 << 10 // bytes of one read

// readFrame reads the frame at offset. Its lines are in the buffer, which the next call may overwrite. The error
// may be errIncomplete or errDamaged.
func (w *window) readFrame(offset int64) (frame, error) {
	const maxTries = 2
	f, need, err := parseFrame(w.bufferFrom(offset))
	// The writer may have completed the frame, so read again. A first read may get only the head, with the
	// size.
	for tries := 0; err != nil && tries < maxTries; tries++ {
		if err := w.fillBuffer(offset, need); err != nil {
			return frame{}, err
		}
		f, need, err = parseFrame(w.bufferFrom(offset))
	}
	return f, err
}

func (w *window) bufferFrom(offset int64) []byte {
	if offset < w.start || offset > w.start+int64(len(w.buf)) {
		return nil
	}
	return w.buf[offset-w.start:]
}

func (w *window) fillBuffer(offset int64, need int) error {
	size := max(need, readAhead)
	if cap(w.buf) < size || cap(w.buf) > 4*size {
		w.buf = make([]byte, size)
	}
	w.buf = w.buf[:size]
	n, err := w.file.ReadAt(w.buf, offset)
	w.start, w.buf = offset, w.buf[:n]
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// findFrame finds the first complete frame, from offset on, with an event at or above minNumber.
func (w *window) findFrame(offset int64, minNumber uint64) (at int64, found bool, err error) {
	for {
		if err := w.fillBuffer(offset, frameSize); err != nil {
			return 0, false, err
		}
		chunk := w.buf
		for i := 0; i+frameSize <= len(chunk); i++ {
			if chunk[i] != frameMagic&0xff { // the first byte of a frame
				continue
			}
			if _, _, err := parseFrame(chunk[i : i+frameSize]); errors.Is(err, errDamaged) {
				continue // no valid head of a frame
			}
			candidate := offset + int64(i)
			f, err := w.readFrame(candidate)
			if err == nil && f.end() > minNumber {
				return candidate, true, nil
			}
			if err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, errIncomplete) {
				return 0, false, err
			}
			// readFrame may have replaced the buffer.
			if err := w.fillBuffer(offset, frameSize); err != nil {
				return 0, false, err
			}
			chunk = w.buf
		}
		if len(chunk) < readAhead {
			return 0, false, nil
		}
		offset += int64(len(chunk) - frameSize + 1) // a head may span two chunks
	}
}
