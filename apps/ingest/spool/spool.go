// Package spool stores batches of lines, its events, on disk until readers have sent them.
//
// One process writes with a [Spool], and the same or another reads with [Readers]. They share only files:
// segments with batches, and a cursor per reader. A batch is acknowledged when it is in a segment. So neither
// process needs the other.
//
// Every event has a number, which is never used twice. A segment's header states which earlier numbers were
// acknowledged. So a reader knows how many acknowledged events are lost in damaged bytes.
package spool

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/tarebench/tare/apps/ingest/commit"
	"github.com/tarebench/tare/internal/atomicfile"
)

// Options configure how a Spool stores batches.
type Options struct {
	Fsync   bool             // sync each write; without it, events survive the process but not a power cut
	Bytes   int64            // largest size of all segments in bytes; 0 means DefaultBytes
	Age     time.Duration    // largest age of an unsent event; 0 means no maximum
	Segment int64            // bytes of a segment; 0 means an eighth of Bytes, at most 64 MiB
	Wait    time.Duration    // time that Keep waits until a batch is sent; 0 means no wait
	Now     func() time.Time // clock; required

	files atomicfile.Disk // nil means the operating system's
}

const (
	// DefaultBytes is the default of Options.Bytes.
	DefaultBytes = 1 << 30
	// LeastBytes is the smallest Options.Bytes.
	LeastBytes = 64 << 10

	maxSegment = 64 << 20 // largest default of Options.Segment
	maxWrite   = 4 << 20  // bytes of a write of several batches
)

// Errors of Keep. After ErrFull and ErrTooLarge nothing is stored.
var (
	ErrFull     = errors.New("the spool is full")
	ErrTooLarge = commit.ErrTooLarge
	ErrWait     = errors.New("the far side has not taken the batch in time")
	ErrClosed   = commit.ErrClosed
)

// Spool writes batches. Its methods may be called concurrently.
type Spool struct {
	dir     string
	options Options
	queue   *commit.Queue
	lock    io.Closer // nil if closed

	// The present segment, only for writeBatches, which is never called concurrently.
	file        atomicfile.Handle // nil if the next batch begins a segment
	fileName    string
	fileSize    int64
	fileCreated time.Time
	buf         []byte

	mu          sync.Mutex // guards the following fields, except readers
	lastSegment uint64
	id          ID
	next        uint64
	acked       uint64           // every event below is acknowledged; failed writes may have used other numbers
	sizes       map[string]int64 // bytes of each segment, by file name
	marks       []timeMark       // begins with the oldest unsent event
	counts      counts

	readers readerState
}

// timeMark records that the events from first on arrived at the time at or later.
type timeMark struct {
	first uint64
	at    time.Time
}

type counts struct{ writes, failures, full int64 }

// Found describes the state that Open found.
type Found struct {
	Events uint64 // unsent events of the slowest reader
	Torn   int64  // bytes of unfinished writes at the end of segments
}

// Open opens the spool in dir, which must exist.
func Open(dir string, o Options) (*Spool, Found, error) {
	if o.files == nil {
		o.files = atomicfile.System{}
	}
	o.Bytes = cmp.Or(o.Bytes, DefaultBytes)
	if o.Bytes < LeastBytes {
		return nil, Found{}, fmt.Errorf("a spool of %d bytes: %d is the least", o.Bytes, LeastBytes)
	}
	o.Segment = cmp.Or(o.Segment, min(o.Bytes/8, maxSegment))
	lock, err := o.files.Lock(filepath.Join(dir, "write.lock"))
	if err != nil {
		return nil, Found{}, err
	}
	s := &Spool{dir: dir, options: o, lock: lock, sizes: map[string]int64{}}
	s.queue = commit.New(s.writeBatches)
	s.readers.spool = s
	s.readers.advanced = make(chan struct{})
	found, err := s.recoverState()
	if err != nil {
		return nil, found, errors.Join(err, lock.Close())
	}
	return s, found, nil
}

// recoverState finds the next event number in the existing segments. It repairs nothing: the next write begins
// a segment, and readers skip unfinished writes.
func (s *Spool) recoverState() (found Found, err error) {
	list, err := listSegments(s.options.files, s.dir, 0)
	if err != nil {
		return found, err
	}
	for _, g := range list {
		s.lastSegment = max(s.lastSegment, g.number)
		s.sizes[filepath.Base(g.path)] = g.size
		if g.err == nil {
			s.marks = append(s.marks, timeMark{first: g.header.first, at: g.header.created})
			s.next = max(s.next, g.header.first)
			s.acked = max(s.acked, g.header.after)
		}
	}
	// The last with an event and a valid header is enough.
	for i := len(list) - 1; i >= 0; i-- {
		// An earlier process may have failed to sync these events, which now count as acknowledged.
		if s.options.Fsync {
			if err := s.syncSegment(list[i].path); err != nil {
				return found, err
			}
		}
		tail, err := scanSegment(s.options.files, list[i])
		if err != nil {
			return found, err
		}
		found.Torn += tail.torn
		s.next = max(s.next, tail.next)
		s.acked = max(s.acked, tail.acked)
		if tail.next > 0 && list[i].err == nil {
			break
		}
	}
	// Take a new id: after a power cut, numbers may be used again.
	if _, err := rand.Read(s.id[:]); err != nil {
		return found, err
	}
	if err := s.readers.refresh(); err != nil {
		return found, err
	}
	s.next = max(s.next, s.readers.maxPosition)
	found.Events = s.next - min(s.next, s.readers.minPosition)
	return found, nil
}

func (s *Spool) syncSegment(path string) error {
	f, err := s.options.files.OpenFile(path, atomicfile.Append)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), s.options.files.SyncDir(s.dir))
}

// Keep stores n complete lines, with Options.Fsync on stable storage. With Options.Wait, readers have then
// sent them. ErrWait, or the error of ctx then, means stored but not sent.
func (s *Spool) Keep(ctx context.Context, lines []byte, n int) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(lines) == 0:
		return nil
	case len(lines) > MaxBatch || int64(len(lines)) > s.options.Bytes/2:
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(lines))
	case lines[len(lines)-1] != '\n' || Lines(lines) != n:
		return errors.New("a batch without a line end at its end, or with a wrong count")
	}
	b := &commit.Batch{Lines: lines, N: n}
	err := s.queue.Keep(ctx, b) // calls writeBatches, which sets b.End
	if err != nil || s.options.Wait == 0 {
		return err
	}
	return s.readers.waitSent(ctx, b.End)
}

// writeBatches writes all batches in as few writes as possible. It sets the Err of each, and the End of those
// that it tries to write.
func (s *Spool) writeBatches(batches []*commit.Batch) {
	now := s.options.Now()
	for len(batches) > 0 {
		n, err := s.writePrefix(batches, now)
		if err != nil {
			err = fmt.Errorf("spool: %w", err)
		}
		for _, b := range batches[:n] {
			b.Err = err
		}
		batches = batches[n:]
	}
}

// writePrefix writes the first batches at once: what fits, at least one. They share the error.
func (s *Spool) writePrefix(batches []*commit.Batch, now time.Time) (n int, err error) {
	need := frameSize + int64(len(batches[0].Lines))
	room, err := s.checkRoom(need, now)
	if err != nil {
		return 1, err
	}
	if s.file != nil {
		isFull := s.fileSize+need > s.options.Segment
		isOld := now.Sub(s.fileCreated) > s.maxSegmentTime()
		if isFull || isOld {
			s.endSegment()
		}
	}
	buf := s.buf[:0]
	if s.file == nil {
		if buf, err = s.beginSegment(buf, now); err != nil {
			s.updateCounts(func(c *counts) { c.failures++ })
			return len(batches), err
		}
	}
	segmentRoom := max(s.options.Segment-s.fileSize, need+headerSize) // one batch always fits
	maxSize := min(maxWrite, room, segmentRoom)
	group := s.next // one write is one group
	next := group
	for n < len(batches) {
		b := batches[n]
		fits := int64(len(buf)+frameSize+len(b.Lines)) <= maxSize
		if n > 0 && !fits {
			break
		}
		f := frame{first: next, group: group, events: uint32(b.N), at: now, lines: b.Lines}
		buf = f.appendTo(buf)
		next = f.end()
		b.End = next
		n++
	}
	if cap(buf) <= 2*maxWrite { // do not keep a very large buffer
		s.buf = buf
	}
	return n, s.appendFrames(buf, next, now)
}

func (s *Spool) appendFrames(frames []byte, next uint64, now time.Time) error {
	s.updateCounts(func(c *counts) { c.writes++ })
	n, err := s.file.Write(frames)
	if err == nil && n < len(frames) {
		err = io.ErrShortWrite
	}
	if err == nil && s.options.Fsync {
		isNew := s.fileSize == 0
		err = s.file.Sync()
		if err == nil && isNew {
			err = s.options.files.SyncDir(s.dir)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.counts.failures++
		s.abandonSegment(int64(len(frames)))
		s.next = next // a reader may have read some of these events
		return err
	}
	const markEvery = time.Second // accuracy of the age of events
	if last := len(s.marks) - 1; last < 0 || now.Sub(s.marks[last].at) >= markEvery {
		if !s.hasUnsent() { // earlier marks are of sent events
			s.marks = nil
		}
		s.marks = append(s.marks, timeMark{first: s.next, at: now})
	}
	s.fileSize += int64(n)
	s.sizes[s.fileName] = s.fileSize
	s.next, s.acked = next, next
	return nil
}

// abandonSegment closes the segment after a failed write of n bytes. It tries to remove the bytes, because the
// disk may be full.
func (s *Spool) abandonSegment(n int64) {
	truncateErr := s.file.Truncate(s.fileSize)
	_ = s.file.Close()
	path := filepath.Join(s.dir, s.fileName)
	switch {
	case s.fileSize == 0 && s.options.files.Remove(path) == nil:
		delete(s.sizes, s.fileName)
	case truncateErr != nil:
		s.sizes[s.fileName] = s.fileSize + n // all bytes may be on disk
	}
	s.file = nil
}

// beginSegment creates a segment. It returns buf with the header appended, to be written with the first frames.
func (s *Spool) beginSegment(buf []byte, now time.Time) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastSegment++
	path := segmentPath(s.dir, s.lastSegment)
	f, err := s.options.files.OpenFile(path, atomicfile.Append)
	if err != nil {
		return buf, err
	}
	s.file = f
	s.fileName = filepath.Base(path)
	s.fileSize = 0
	s.fileCreated = now
	return header{id: s.id, first: s.next, after: s.acked, created: now}.appendTo(buf), nil
}

func (s *Spool) endSegment() {
	_ = s.file.Close()
	s.file = nil
}

// maxSegmentTime limits a segment that is not full. Readers free only complete ones, and headers show the age
// of events.
func (s *Spool) maxSegmentTime() time.Duration {
	if s.options.Age > 0 {
		return max(time.Second, s.options.Age/8)
	}
	return time.Minute
}

func (s *Spool) updateCounts(change func(*counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

// Close writes the waiting batches and closes the spool. Unsent events remain on disk.
func (s *Spool) Close() error {
	return s.queue.Close(func() error {
		if s.lock == nil {
			return nil
		}
		var err error
		if s.file != nil {
			err = s.file.Close()
			s.file = nil
		}
		err = errors.Join(err, s.lock.Close())
		s.lock = nil
		return err
	})
}

// Lines returns the number of lines in b.
func Lines(b []byte) int { return bytes.Count(b, []byte("\n")) }
