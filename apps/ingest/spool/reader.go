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

// Batch contains events with consecutive numbers, in the order in which they were acknowledged.
type Batch struct {
	ID       ID        // id of the spool
	From, To uint64    // number of the first event, and the one after the last
	Lines    []byte    // one complete line per event
	Oldest   time.Time // arrival of the first event
	Closed   bool      // no further events can be appended
}

// Len returns the number of events.
func (b *Batch) Len() int { return int(b.To - b.From) }

// Reset empties b. It keeps the buffer of Lines.
func (b *Batch) Reset() { *b = Batch{Lines: b.Lines[:0]} }

// Damage describes bytes that a reader could not read.
type Damage struct {
	Segment string // path of the file
	Offset  int64
	Bytes   int64  // 0 if not known
	Lost    uint64 // acknowledged events; 0 if a cursor is damaged
	Copy    string // path of a file with the damaged bytes, or ""
}

// String returns one line, e.g. "3 acknowledged events are lost: 000000000001.segment is damaged at byte 52;
// what is left of it is in 000000000001-52.damaged".
func (d Damage) String() string {
	if d.Lost == 0 { // a cursor
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

// Reader reads a spool, files in which events wait to be sent. Its cursor stores how far it got. A spool has
// segments (files), and a segment has frames with one batch each.
//
// One goroutine at a time calls Take, Begin before it sends the batch, and then Done or Failed.
//
// Damaged bytes are skipped, and reported if they contained acknowledged events. At the end of the last
// segment a write may be in progress.
type Reader struct {
	dir    string
	files  atomicfile.Disk
	fsync  bool
	report func(Damage) // receives damage with acknowledged events
	state  Cursor       // unchanged by Take

	mu     sync.Mutex // guards cursor and saved
	cursor openCursor
	saved  Cursor // last state in the cursor's file
	id     ID

	segment   segment
	window    window // reads segment; its file may be nil
	offset    int64  // next frame in segment
	badReads  int    // how often the bytes at offset were damaged
	next      uint64
	newlyLost uint64         // events that state does not count yet
	suspects  []suspectRange // sorted by events
	remaining frame          // events that Take has not returned yet
}

// suspectRange may have contained acknowledged events.
type suspectRange struct {
	Damage
	end uint64
}

// maxBadReads of damaged bytes in the last segment mean that no write is in progress.
const maxBadReads = 5

// Cursor returns the position and counters of the reader.
func (r *Reader) Cursor() Cursor { return r.state }

// Take appends available events to b, up to maxEvents or maxSize bytes. It takes a larger first event, too. It
// does not wait. b.Closed means that the next event does not fit or follow. It skips no event after an error.
func (r *Reader) Take(b *Batch, maxEvents, maxSize int) error {
	for !b.Closed && b.Len() < maxEvents {
		isFull := b.Len() > 0 && len(b.Lines) >= maxSize
		if isFull {
			return nil
		}
		if r.remaining.events == 0 {
			ok, err := r.nextFrame()
			if err != nil && b.Len() == 0 {
				return err
			}
			if !ok {
				return nil // the next call has the same error
			}
		}
		switch {
		case b.Len() == 0:
			b.ID = r.id
			b.From, b.To = r.remaining.first, r.remaining.first
			b.Oldest = r.remaining.at
		case b.To != r.remaining.first || b.ID != r.id:
			b.Closed = true
			return nil
		}
		if !r.takeEvents(b, maxEvents, maxSize) {
			b.Closed = true
		}
	}
	return nil
}

// takeEvents moves events from r.remaining to b. It returns false if the next event does not fit.
func (r *Reader) takeEvents(b *Batch, maxEvents, maxSize int) bool {
	for r.remaining.events > 0 && b.Len() < maxEvents {
		end := len(r.remaining.lines)
		if r.remaining.events > 1 {
			end = bytes.IndexByte(r.remaining.lines, '\n') + 1
		}
		if b.Len() > 0 && len(b.Lines)+end > maxSize {
			return false
		}
		b.Lines = append(b.Lines, r.remaining.lines[:end]...)
		r.remaining.lines = r.remaining.lines[end:]
		r.remaining.first++
		r.remaining.events--
		b.To++
	}
	r.next = b.To
	return true
}

// nextFrame reads the next frame with an unsent event into r.remaining.
func (r *Reader) nextFrame() (found bool, err error) {
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
			r.offset, r.badReads = r.offset+f.size(), 0
			r.resolveSuspects(f.group)
			if f.end() <= r.next {
				continue
			}
			r.next = max(r.next, f.first)
			// Remove sent events.
			for ; f.first < r.next; f.events-- {
				f.lines = f.lines[bytes.IndexByte(f.lines, '\n')+1:]
				f.first++
			}
			r.remaining = f
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

// skipUnreadable continues at the next valid frame or segment. damaged is false if bytes are incomplete. It
// returns false while they may still be written.
//
// Events of a damaged frame are lost only if later data shows that they were acknowledged.
func (r *Reader) skipUnreadable(damaged bool) (more bool, err error) {
	following, err := r.nextSegment()
	if err != nil {
		return false, err
	}
	// Read again for the error: the segment may have grown.
	if _, err := r.window.readFrame(r.offset); err == nil {
		return true, nil
	}
	if damaged {
		r.badReads++
	}
	isComplete := following != nil || r.badReads >= maxBadReads // no write is in progress
	if damaged && isComplete {
		next, found, err := r.window.findFrame(r.offset+1, r.next)
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
		r.badReads = 0
	}
	if following == nil {
		return false, nil
	}
	return true, r.useSegment(*following)
}

// nextSegment returns the next segment, or nil if there is none yet. It ignores a last segment whose header may
// still be being written.
func (r *Reader) nextSegment() (*segment, error) {
	list, err := listSegments(r.files, r.dir, r.segment.number)
	for i := range list {
		if list[i].err == nil || i < len(list)-1 {
			return &list[i], err
		}
	}
	return nil, err
}

// openSegment opens the last segment that can contain the next event, or else the first one. Even with a
// damaged header it may have valid frames.
func (r *Reader) openSegment() (found bool, err error) {
	list, err := listSegments(r.files, r.dir, 0)
	if err != nil {
		return false, err
	}
	isUnfinished := len(list) == 1 && list[0].err != nil // its header may still be being written
	if len(list) == 0 || isUnfinished {
		return false, nil
	}
	isNew := r.state.Position == 0 && r.state.Sent == 0
	if isNew { // begin with the first event on disk
		first, err := r.firstNumber(list)
		if err != nil {
			return false, err
		}
		r.next = max(r.next, first)
	}
	g := list[0]
	for _, later := range list[1:] {
		if later.err == nil && later.header.first <= r.next {
			g = later
		}
	}
	return true, r.useSegment(g)
}

// firstNumber returns a lower bound of the numbers in list. Segment 1 begins with event 0.
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

// firstGroup returns the group of the first valid frame of a damaged segment.
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

// useSegment continues in g. Its header shows which earlier events were acknowledged; unread ones are lost.
func (r *Reader) useSegment(g segment) error {
	f, err := r.files.OpenFile(g.path, atomicfile.ReadOnly)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed since: it contained nothing
		}
		return err
	}
	previousSize := int64(0) // 0 if unknown
	if r.window.file != nil {
		previousSize, _ = r.window.file.Size()
	}
	r.resolveSuspects(g.header.after)
	r.suspects = nil // the other suspects were never acknowledged
	if r.next < g.header.after {
		d := Damage{Segment: g.path, Lost: g.header.after - r.next}
		if previousSize > r.offset { // the lost events were in the previous segment
			d.Segment = r.segment.path
			d.Offset, d.Bytes = r.offset, previousSize-r.offset
			d.Copy = r.copyDamaged(d.Offset, d.Bytes)
		}
		r.reportLost(d)
	}
	r.next = max(r.next, g.header.first)
	r.close()
	r.segment = g
	r.window = window{file: f}
	r.id = g.header.id
	r.badReads = 0
	r.offset = headerSize
	if g.err != nil { // search for frames from the first byte
		r.offset = 0
	}
	return nil
}

// skipDamage skips size damaged bytes. following is the valid frame after them.
func (r *Reader) skipDamage(size int64, following frame) {
	if following.first > r.next {
		d := Damage{Segment: r.segment.path, Offset: r.offset, Bytes: size, Lost: following.first - r.next}
		d.Copy = r.copyDamaged(d.Offset, size)
		if following.group > r.next { // a group (one write) follows only acknowledged events
			r.reportLost(d)
		} else {
			r.suspects = append(r.suspects, suspectRange{Damage: d, end: following.first})
		}
		r.next = following.first
	}
	r.offset, r.badReads = r.offset+size, 0
}

// resolveSuspects reports suspects below acked as lost.
func (r *Reader) resolveSuspects(acked uint64) {
	for len(r.suspects) > 0 && r.suspects[0].end <= acked {
		r.reportLost(r.suspects[0].Damage)
		r.suspects = r.suspects[1:]
	}
}

func (r *Reader) reportLost(d Damage) {
	r.newlyLost += d.Lost
	r.report(d)
}

// copyDamaged copies damaged bytes into a file, or returns "".
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

// Pending returns the number after the batch in flight when the cursor was last saved. An earlier process may
// have sent it, so the same events must be sent again. No batch is pending if it is not above the position.
func (r *Reader) Pending() uint64 { return r.state.Pending }

// Begin records that b will be sent. With fsync, after a power cut only b is sent again.
func (r *Reader) Begin(b *Batch) error {
	r.state.Pending, r.state.Oldest = b.To, b.Oldest
	if err := r.saveCursor(); err != nil || !r.fsync {
		return err
	}
	return r.syncCursor()
}

// Failed records a failed attempt to send a batch. isHeld means that the destination accepts no events at all.
func (r *Reader) Failed(isHeld bool) error {
	r.state.Failures++
	r.state.Held = isHeld
	return r.saveCursor()
}

// Part records that the events of b below end are done: sent, or dead (rejected). dead counts those that no
// earlier call has counted. After a crash only the rest is sent again.
func (r *Reader) Part(b *Batch, end uint64, dead int) error {
	r.advanceTo(b, end, dead)
	return r.saveCursor()
}

func (r *Reader) advanceTo(b *Batch, end uint64, dead int) {
	done := end - max(b.From, r.state.Position) // events that earlier calls have not counted
	r.state.Sent += done - uint64(dead)
	r.state.Position = end
	r.state.Held = false
	r.state.Dead += uint64(dead)
	r.state.Lost += r.newlyLost
	r.newlyLost = 0
}

// Done records that b is done. dead counts rejected events that Part has not counted. After an error of the
// cursor's file, the reader continues in memory.
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

func (r *Reader) syncCursor() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cursor.syncSlot(r.saved)
}
