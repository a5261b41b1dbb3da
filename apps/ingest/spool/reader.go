package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/tarebench/tare/internal/atomicfile"
)

// Batch contains events in the order in which they were acknowledged, with no number skipped.
type Batch struct {
	ID       ID        // with the numbers it identifies the events
	From, To uint64    // numbers: of the first event, and the next after the last
	Lines    []byte    // complete ones
	Oldest   time.Time // when the first came
	Closed   bool      // the next events do not belong to it
}

// Len returns the number of events.
func (b *Batch) Len() int { return int(b.To - b.From) }

// Reset empties b, and retains its buffer.
func (b *Batch) Reset() { *b = Batch{Lines: b.Lines[:0]} }

// Damage describes bytes that a reader could not read.
type Damage struct {
	Segment string // the file
	Offset  int64
	Bytes   int64  // damaged ones, as far as that is known
	Lost    uint64 // acknowledged events
	Copy    string // file with the damaged bytes, or ""
}

func (d Damage) String() string {
	if d.Lost == 0 {
		return d.Segment + " is damaged: events that were sent may be sent again"
	}
	text := fmt.Sprintf("%d acknowledged events are lost: %s is damaged at byte %d", d.Lost, d.Segment, d.Offset)
	if d.Bytes == 0 {
		text = fmt.Sprintf("%d acknowledged events are lost before %s", d.Lost, d.Segment)
	}
	if d.Copy != "" {
		text += "; what is left of it is in " + d.Copy
	}
	return text
}

// Reader reads a spool from its cursor on. One goroutine at a time uses it.
type Reader struct {
	dir    string
	files  atomicfile.Disk
	fsync  bool
	report func(Damage)
	state  Cursor

	mu     sync.Mutex
	cursor openCursor
	saved  Cursor // as it was last written
	id     ID

	segment segment
	window  window // of segment; its file is nil if none is open
	offset  int64  // in it
	suspect int    // how often the bytes at offset were bad
	at      uint64 // number of the next event
	lost    uint64 // events since the last commit
	doubts  []suspectRange
	rest    frame // that is not taken yet
}

// maxSuspect is the number of reads after which bad bytes count as damaged, while they may still be
// being written.
const maxSuspect = 5

// Cursor returns the position and counters of the reader.
func (r *Reader) Cursor() Cursor { return r.state }

// Take appends events to b, up to most of them and up to size bytes, unless a single one is longer.
// It takes the available events, which may be none. After an error it can be called again: it skips
// nothing.
func (r *Reader) Take(b *Batch, most, size int) error {
	for b.Len() < most && !b.Closed && (b.Len() == 0 || len(b.Lines) < size) {
		if r.rest.n == 0 {
			if ok, err := r.nextFrame(); err != nil && b.Len() == 0 {
				return err
			} else if !ok {
				return nil // the error comes again
			}
		}
		switch {
		case b.Len() == 0:
			b.ID, b.From, b.To, b.Oldest = r.id, r.rest.first, r.rest.first, r.rest.at
		case b.To != r.rest.first || b.ID != r.id:
			b.Closed = true
			return nil
		}
		if !r.takeEvents(b, most, size) {
			b.Closed = true
		}
	}
	return nil
}

// takeEvents moves events from the rest of a frame, and returns false if the next does not fit.
func (r *Reader) takeEvents(b *Batch, most, size int) bool {
	for r.rest.n > 0 && b.Len() < most {
		end := len(r.rest.lines)
		if r.rest.n > 1 {
			end = bytes.IndexByte(r.rest.lines, '\n') + 1
		}
		if b.Len() > 0 && len(b.Lines)+end > size {
			return false
		}
		b.Lines = append(b.Lines, r.rest.lines[:end]...)
		r.rest.lines = r.rest.lines[end:]
		r.rest.first++
		r.rest.n--
		b.To++
	}
	r.at = b.To
	return true
}

// nextFrame reads the next frame with an event that is to be sent into rest, or returns false if
// there is none yet.
func (r *Reader) nextFrame() (bool, error) {
	for {
		if r.window.file == nil {
			if ok, err := r.openSegment(); !ok || err != nil {
				return false, err
			}
			continue
		}
		f, err := r.window.readFrame(r.offset)
		switch {
		case err == nil:
			r.offset, r.suspect = r.offset+f.size(), 0
			r.resolveDoubts(f.group)
			if f.end() <= r.at {
				continue
			}
			r.at = max(r.at, f.first)
			for ; f.first < r.at; f.n-- {
				f.lines = f.lines[bytes.IndexByte(f.lines, '\n')+1:]
				f.first++
			}
			r.rest = f
			return true, nil
		case !errors.Is(err, errIncomplete) && !errors.Is(err, errDamaged):
			return false, fmt.Errorf("read %s at byte %d: %w", r.segment.path, r.offset, err)
		}
		more, err := r.skipUnreadable(errors.Is(err, errDamaged))
		if !more || err != nil {
			return false, err
		}
	}
}

// skipUnreadable continues after unreadable bytes at the offset, and returns false if they may
// still be being written. A damaged frame counts as lost only if a later one, or the next segment,
// shows that it was acknowledged.
func (r *Reader) skipUnreadable(bad bool) (bool, error) {
	following, err := r.nextSegment()
	if err != nil {
		return false, err
	}
	// The segment may have grown before the next one was begun.
	if _, err := r.window.readFrame(r.offset); err == nil {
		return true, nil
	}
	if bad {
		r.suspect++
	}
	if bad && (following != nil || r.suspect >= maxSuspect) {
		next, found, err := r.window.findFrame(r.offset+1, r.at)
		if err != nil {
			return false, err
		}
		if found {
			f, err := r.window.readFrame(next)
			if err == nil {
				r.skipDamage(next-r.offset, f)
			}
			return err == nil, err
		}
		r.suspect = 0
	}
	if following == nil {
		return false, nil
	}
	return true, r.useSegment(*following)
}

// nextSegment returns the next segment that is worth reading; nil if it does not exist yet.
func (r *Reader) nextSegment() (*segment, error) {
	list, err := listSegments(r.files, r.dir, r.segment.number)
	for i := range list {
		if list[i].err == nil || i < len(list)-1 {
			return &list[i], err
		}
	}
	return nil, err
}

// openSegment opens the segment that has the next event: the last one that may, or else the first.
// If the header of the first is damaged, its frames may be valid.
func (r *Reader) openSegment() (bool, error) {
	list, err := listSegments(r.files, r.dir, 0)
	if err != nil {
		return false, err
	}
	if len(list) == 0 || len(list) == 1 && list[0].err != nil { // it may be being written
		return false, nil
	}
	if r.state.Position == 0 && r.state.Sent == 0 { // a new cursor begins with the first event
		first, err := r.firstNumber(list)
		if err != nil {
			return false, err
		}
		r.at = max(r.at, first)
	}
	g := list[0]
	for _, later := range list[1:] {
		if later.err == nil && later.header.first <= r.at {
			g = later
		}
	}
	return true, r.useSegment(g)
}

// firstNumber returns the number that all events in segments have or exceed. Those of segment 1
// begin with 0.
func (r *Reader) firstNumber(list []segment) (uint64, error) {
	for _, g := range list {
		if g.err == nil || g.number == 1 {
			return g.header.after, nil
		}
		if group, found, err := r.firstGroup(g); found || err != nil {
			return group, err
		}
	}
	return 0, nil
}

// firstGroup returns the group of the first valid frame in a segment whose header is damaged.
func (r *Reader) firstGroup(g segment) (group uint64, found bool, err error) {
	file, err := r.files.OpenFile(g.path, atomicfile.ReadOnly)
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	w := window{file: file}
	at, found, err := w.findFrame(0, 0)
	if !found || err != nil {
		return 0, false, err
	}
	f, err := w.readFrame(at)
	return f.group, err == nil, err
}

// useSegment continues with a segment.
func (r *Reader) useSegment(g segment) error {
	f, err := r.files.OpenFile(g.path, atomicfile.ReadOnly)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed since it was listed: it contained nothing
		}
		return err
	}
	size := int64(0)
	if r.window.file != nil {
		size, _ = r.window.file.Size()
	}
	r.resolveDoubts(g.header.after)
	r.doubts = nil // these were never acknowledged
	if r.at < g.header.after {
		d := Damage{Segment: g.path, Lost: g.header.after - r.at}
		if size > r.offset {
			d.Segment, d.Offset, d.Bytes = r.segment.path, r.offset, size-r.offset
			d.Copy = r.copyDamaged(d.Offset, d.Bytes)
		}
		r.reportLost(d)
	}
	r.at = max(r.at, g.header.first)
	r.close()
	r.segment, r.window, r.offset, r.suspect = g, window{file: f}, headerSize, 0
	if r.id = g.header.id; g.err != nil {
		r.offset = 0 // frames can be found nevertheless
	}
	return nil
}

// suspectRange is damage of events before a number that were perhaps acknowledged.
type suspectRange struct {
	Damage
	to uint64
}

// skipDamage skips size damaged bytes at the offset, up to a frame.
func (r *Reader) skipDamage(size int64, to frame) {
	if to.first > r.at {
		d := Damage{Segment: r.segment.path, Offset: r.offset, Bytes: size, Lost: to.first - r.at}
		d.Copy = r.copyDamaged(d.Offset, size)
		if to.group > r.at { // it was written when they had been acknowledged
			r.reportLost(d)
		} else {
			r.doubts = append(r.doubts, suspectRange{d, to.first})
		}
		r.at = to.first
	}
	r.offset, r.suspect = r.offset+size, 0
}

// resolveDoubts reports earlier damage: all events before a number were acknowledged.
func (r *Reader) resolveDoubts(acked uint64) {
	for len(r.doubts) > 0 && r.doubts[0].to <= acked {
		r.reportLost(r.doubts[0].Damage)
		r.doubts = r.doubts[1:]
	}
}

func (r *Reader) reportLost(d Damage) {
	r.lost += d.Lost
	r.report(d)
}

// copyDamaged copies damaged bytes into a file, as far as it can, and returns its path.
func (r *Reader) copyDamaged(offset, size int64) string {
	b := make([]byte, min(size, MaxBatch+frameSize))
	n, err := r.window.file.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	path := filepath.Join(r.dir, fmt.Sprintf("%012d-%d%s", r.segment.number, offset, damagedEnd))
	f, err := r.files.OpenFile(path, atomicfile.Overwrite)
	if err != nil {
		return ""
	}
	_, err = f.WriteAt(b[:n], 0)
	if errors.Join(err, f.Close()) != nil {
		return ""
	}
	return path
}

func (r *Reader) close() {
	if r.window.file != nil {
		_ = r.window.file.Close()
		r.window.file = nil
	}
}

// Pending returns the number up to which events may have been sent before the process ended: a
// batch that is made of them again has the same events. It is at most the cursor's position if
// nothing is pending.
func (r *Reader) Pending() uint64 { return r.state.Pending }

// Begin records that b is about to be sent. With fsync that is on stable storage then: after a
// power cut only b is sent again, and with the same events.
func (r *Reader) Begin(b *Batch) error {
	r.state.Pending, r.state.Oldest = b.To, b.Oldest
	if err := r.saveCursor(); err != nil || !r.fsync {
		return err
	}
	return r.syncCursor()
}

// Failed records that an attempt has failed, and whether the destination accepts nothing at all, as
// far as known.
func (r *Reader) Failed(held bool) error {
	r.state.Failures++
	r.state.Held = held
	return r.saveCursor()
}

// Part records that the events of b before number to are sent, except dead of them, which are dead.
// After a crash only the rest of b is sent again.
func (r *Reader) Part(b *Batch, to uint64, dead int) error {
	r.advanceTo(b, to, dead)
	return r.saveCursor()
}

// advanceTo counts the events of b before number to that were not counted yet.
func (r *Reader) advanceTo(b *Batch, to uint64, dead int) {
	r.state.Sent += to - max(b.From, r.state.Position) - uint64(dead)
	r.state.Position, r.state.Held = to, false
	r.state.Dead += uint64(dead)
	r.state.Lost += r.lost
	r.lost = 0
}

// Done records that b is sent, except dead events that Part has not counted. After an error the
// reader continues with its state in memory.
func (r *Reader) Done(b *Batch, dead int) error {
	r.advanceTo(b, b.To, dead)
	r.state.Pending, r.state.Oldest = b.To, time.Time{}
	return r.saveCursor()
}

func (r *Reader) saveCursor() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.cursor.writeSlot(r.state); err != nil {
		return err
	}
	r.saved = r.state
	return nil
}

// syncCursor brings the cursor to stable storage.
func (r *Reader) syncCursor() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cursor.syncSlot(r.saved)
}
