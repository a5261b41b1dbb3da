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

	"github.com/tarebench/tare/internal/whole"
)

// Batch is events in the order in which they were acknowledged, with no number
// left out.
type Batch struct {
	ID       ID        // with the numbers it names the events
	From, To uint64    // numbers: of the first event, and behind the last
	Lines    []byte    // whole ones
	Oldest   time.Time // when the first came
	Closed   bool      // what follows does not go with it
}

// Len is how many events there are.
func (b *Batch) Len() int { return int(b.To - b.From) }

// Reset empties b, and keeps its buffer.
func (b *Batch) Reset() { *b = Batch{Lines: b.Lines[:0]} }

// Damage is what a reader could not read.
type Damage struct {
	Segment string // the file
	Offset  int64
	Bytes   int64  // that are damaged, as far as that can be said
	Lost    uint64 // events that were acknowledged
	Copy    string // file with the damaged bytes; empty: there is none
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
	files  whole.Disk
	fsync  bool
	report func(Damage)
	state  Cursor

	mu     sync.Mutex
	cursor openCursor
	saved  Cursor // as it was last written
	id     ID

	segment segment
	window  window // of segment; no file: none is open
	offset  int64  // in it
	suspect int    // how often what is at offset was found to be bad
	at      uint64 // number of the next event
	lost    uint64 // events since the last commit
	doubts  []doubt
	rest    frame // that is not taken yet
}

// patience is how often bytes must be found bad before they count as damaged,
// while they may still be being written.
const patience = 5

// Cursor is how far the reader has come.
func (r *Reader) Cursor() Cursor { return r.state }

// Take appends events to b, up to most of them and up to so many bytes, unless a
// single one is longer. It takes what is there, which may be nothing. After an
// error it can be called again: nothing is passed over.
func (r *Reader) Take(b *Batch, most, size int) error {
	for b.Len() < most && !b.Closed && (b.Len() == 0 || len(b.Lines) < size) {
		if r.rest.n == 0 {
			if ok, err := r.next(); err != nil && b.Len() == 0 {
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
		if !r.take(b, most, size) {
			b.Closed = true
		}
	}
	return nil
}

// take moves events from the rest of a frame, and returns false where the next
// does not fit.
func (r *Reader) take(b *Batch, most, size int) bool {
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

// next reads the next frame with an event that is to be sent into rest, or
// returns false where there is none yet.
func (r *Reader) next() (bool, error) {
	for {
		if r.window.file == nil {
			if ok, err := r.open(); !ok || err != nil {
				return false, err
			}
			continue
		}
		f, err := r.window.frame(r.offset)
		switch {
		case err == nil:
			r.offset, r.suspect = r.offset+f.size(), 0
			r.settle(f.group)
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
		case !errors.Is(err, errShort) && !errors.Is(err, errBad):
			return false, fmt.Errorf("read %s at byte %d: %w", r.segment.path, r.offset, err)
		}
		more, err := r.past(errors.Is(err, errBad))
		if !more || err != nil {
			return false, err
		}
	}
}

// past goes on behind what cannot be read at the offset, and returns false where
// it may still be being written. A frame that is damaged counts as lost only if a
// later one, or the next segment, shows that it was acknowledged.
func (r *Reader) past(bad bool) (bool, error) {
	following, err := r.following()
	if err != nil {
		return false, err
	}
	// The segment may have grown before the next one was begun.
	if _, err := r.window.frame(r.offset); err == nil {
		return true, nil
	}
	if bad {
		r.suspect++
	}
	if bad && (following != nil || r.suspect >= patience) {
		next, found, err := r.window.search(r.offset+1, r.at)
		if err != nil {
			return false, err
		}
		if found {
			f, err := r.window.frame(next)
			if err == nil {
				r.skip(next-r.offset, f)
			}
			return err == nil, err
		}
		r.suspect = 0
	}
	if following == nil {
		return false, nil
	}
	return true, r.turn(*following)
}

// following is the next segment that is worth a look; nil: there is none yet.
func (r *Reader) following() (*segment, error) {
	list, err := segments(r.files, r.dir, r.segment.number)
	for i := range list {
		if list[i].err == nil || i < len(list)-1 {
			return &list[i], err
		}
	}
	return nil, err
}

// open opens the segment that has the next event: the last one that may, or else
// the first. If the header of the first is damaged, its frames may be whole.
func (r *Reader) open() (bool, error) {
	list, err := segments(r.files, r.dir, 0)
	if err != nil {
		return false, err
	}
	if len(list) == 0 || len(list) == 1 && list[0].err != nil { // it may be being written
		return false, nil
	}
	if r.state.Position == 0 && r.state.Sent == 0 { // a cursor that is new begins with what there is
		first, err := r.first(list)
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
	return true, r.turn(g)
}

// first is the number that all events in segments have or exceed. Those of segment 1
// begin with 0.
func (r *Reader) first(list []segment) (uint64, error) {
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

// firstGroup is that of the first whole frame in a segment whose header is damaged.
func (r *Reader) firstGroup(g segment) (group uint64, found bool, err error) {
	file, err := r.files.OpenFile(g.path, whole.ReadOnly)
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	w := window{file: file}
	at, found, err := w.search(0, 0)
	if !found || err != nil {
		return 0, false, err
	}
	f, err := w.frame(at)
	return f.group, err == nil, err
}

// turn goes on with a segment.
func (r *Reader) turn(g segment) error {
	f, err := r.files.OpenFile(g.path, whole.ReadOnly)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed since it was listed: there was nothing in it
		}
		return err
	}
	size := int64(0)
	if r.window.file != nil {
		size, _ = r.window.file.Size()
	}
	r.settle(g.header.after)
	r.doubts = nil // these were never acknowledged
	if r.at < g.header.after {
		d := Damage{Segment: g.path, Lost: g.header.after - r.at}
		if size > r.offset {
			d.Segment, d.Offset, d.Bytes = r.segment.path, r.offset, size-r.offset
			d.Copy = r.copy(d.Offset, d.Bytes)
		}
		r.lose(d)
	}
	r.at = max(r.at, g.header.first)
	r.close()
	r.segment, r.window, r.offset, r.suspect = g, window{file: f}, headerSize, 0
	if r.id = g.header.id; g.err != nil {
		r.offset = 0 // frames can be found nevertheless
	}
	return nil
}

// doubt is damage of events before a number that were perhaps acknowledged.
type doubt struct {
	Damage
	to uint64
}

// skip passes over so many damaged bytes at the offset, to a frame.
func (r *Reader) skip(size int64, to frame) {
	if to.first > r.at {
		d := Damage{Segment: r.segment.path, Offset: r.offset, Bytes: size, Lost: to.first - r.at}
		d.Copy = r.copy(d.Offset, size)
		if to.group > r.at { // it was written when they had been acknowledged
			r.lose(d)
		} else {
			r.doubts = append(r.doubts, doubt{d, to.first})
		}
		r.at = to.first
	}
	r.offset, r.suspect = r.offset+size, 0
}

// settle takes notice that all events before a number were acknowledged.
func (r *Reader) settle(acked uint64) {
	for len(r.doubts) > 0 && r.doubts[0].to <= acked {
		r.lose(r.doubts[0].Damage)
		r.doubts = r.doubts[1:]
	}
}

func (r *Reader) lose(d Damage) {
	r.lost += d.Lost
	r.report(d)
}

// copy keeps damaged bytes, as far as it can.
func (r *Reader) copy(offset, size int64) string {
	b := make([]byte, min(size, MaxBatch+frameSize))
	n, err := r.window.file.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	path := filepath.Join(r.dir, fmt.Sprintf("%012d-%d%s", r.segment.number, offset, damagedEnd))
	f, err := r.files.OpenFile(path, whole.Overwrite)
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

// Pending is the number up to which events may have been sent before the
// process ended: a batch that is made of them again has the same events. It is
// at most the cursor's position where nothing is pending.
func (r *Reader) Pending() uint64 { return r.state.Pending }

// Begin notes that b is about to be sent. With fsync that is on stable storage
// then: after a power cut b alone is sent again, and with the same events.
func (r *Reader) Begin(b *Batch) error {
	r.state.Pending, r.state.Oldest = b.To, b.Oldest
	if err := r.save(); err != nil || !r.fsync {
		return err
	}
	return r.sync()
}

// Failed notes that an attempt has failed, and whether the far side takes nothing at
// all, by what is known.
func (r *Reader) Failed(held bool) error {
	r.state.Failures++
	r.state.Held = held
	return r.save()
}

// Part notes that the events of b before number to are sent, all but so many of them,
// which are dead. After a crash only the rest of b is sent again.
func (r *Reader) Part(b *Batch, to uint64, dead int) error {
	r.advance(b, to, dead)
	return r.save()
}

// advance counts the events of b before number to that were not counted yet.
func (r *Reader) advance(b *Batch, to uint64, dead int) {
	r.state.Sent += to - max(b.From, r.state.Position) - uint64(dead)
	r.state.Position, r.state.Held = to, false
	r.state.Dead += uint64(dead)
	r.state.Lost += r.lost
	r.lost = 0
}

// Done notes that b is sent, all but so many of its events that Part has not named,
// which are dead. After an error the reader goes on by what it has in memory.
func (r *Reader) Done(b *Batch, dead int) error {
	r.advance(b, b.To, dead)
	r.state.Pending, r.state.Oldest = b.To, time.Time{}
	return r.save()
}

func (r *Reader) save() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.cursor.write(r.state); err != nil {
		return err
	}
	r.saved = r.state
	return nil
}

// sync brings the cursor to stable storage.
func (r *Reader) sync() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cursor.sync(r.saved)
}
