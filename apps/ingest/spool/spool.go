// Package spool stores batches of lines on disk until readers have sent them.
//
// One process writes with a [Spool], another or the same reads with [Readers]. All that they know
// of each other is in the directory: segments, which are only appended to, and a cursor for each
// reader with its position. A batch is acknowledged when it is in a segment, so that neither
// process needs the other to run.
//
// Every event has a number. A number is never used twice, not even after a write that failed, and
// each segment contains which numbers were acknowledged before it: a reader that finds bytes
// damaged knows how many events it has lost, and one that finds the rest of an unfinished write
// knows that it has lost none.
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
	Fsync   bool             // acknowledged means on stable storage; else it means written, which survives the end of the process but not a power cut
	Bytes   int64            // largest size of all segments together; 0 means DefaultBytes
	Age     time.Duration    // largest age of an unsent event; 0 means any
	Segment int64            // bytes of a segment; 0 means an eighth of Bytes, and 64 MiB at most
	Wait    time.Duration    // how long Keep waits until all readers have sent a batch; 0 means that it does not wait
	Now     func() time.Time // never nil

	files atomicfile.Disk // nil means the operating system's
}

const (
	// DefaultBytes is the default of Options.Bytes.
	DefaultBytes = 1 << 30
	// LeastBytes is the smallest Options.Bytes.
	LeastBytes = 64 << 10

	maxSegment = 64 << 20
	maxWrite   = 4 << 20 // up to which batches are joined
)

// Errors of Keep. After ErrFull and ErrTooLarge nothing of the batch is stored.
var (
	ErrFull     = errors.New("the spool is full")
	ErrTooLarge = commit.ErrTooLarge
	ErrWait     = errors.New("the far side has not taken the batch in time")
	ErrClosed   = commit.ErrClosed
)

// Spool is the writing end.
type Spool struct {
	dir   string
	o     Options
	queue *commit.Queue
	lock  io.Closer // nil if closed

	// Only the writer whose turn it is uses these.
	file atomicfile.Handle // the segment that is being written; nil if the next batch begins one
	name string
	size int64     // acknowledged bytes of it
	born time.Time // when it was begun
	buf  []byte

	mu     sync.Mutex // also guards the fields that Status reads
	number uint64     // of the last segment
	id     ID
	next   uint64 // number of the next event
	acked  uint64 // all numbers below it were acknowledged, or are of no event
	sizes  map[string]int64
	marks  []timeMark // times of events, from the oldest unsent one
	counts counts

	sent readerState
}

// timeMark is the time of the events from a number on.
type timeMark struct {
	first uint64
	at    time.Time
}

// counts are the counters of Status.
type counts struct{ writes, failures, full int64 }

// Found describes the state that Open found.
type Found struct {
	Events uint64 // unsent events of the slowest reader
	Torn   int64  // bytes of an unfinished write at the end
}

// Open opens the spool in dir, which exists.
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
	s := &Spool{dir: dir, o: o, lock: lock, sizes: map[string]int64{}}
	s.queue = commit.New(s.writeBatches)
	s.sent.spool, s.sent.moved = s, make(chan struct{})
	found, err := s.recoverState()
	if err != nil {
		return nil, found, errors.Join(err, lock.Close())
	}
	return s, found, nil
}

// recoverState reads the existing segments and cursors. It changes nothing: the next write begins a
// new segment, and readers can handle the rest of an unfinished write.
func (s *Spool) recoverState() (found Found, err error) {
	list, err := listSegments(s.o.files, s.dir, 0)
	if err != nil {
		return found, err
	}
	for _, g := range list {
		s.number = max(s.number, g.number)
		s.sizes[filepath.Base(g.path)] = g.size
		if g.err == nil {
			s.marks = append(s.marks, timeMark{g.header.first, g.header.created})
			s.next, s.acked = max(s.next, g.header.first), max(s.acked, g.header.after)
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		if s.o.Fsync { // segments that an earlier process could not sync count as acknowledged from now on
			if err := s.syncSegment(list[i].path); err != nil {
				return found, err
			}
		}
		end, err := scanSegment(s.o.files, list[i])
		if err != nil {
			return found, err
		}
		found.Torn += end.torn
		s.next, s.acked = max(s.next, end.next), max(s.acked, end.acked)
		if end.next > 0 && list[i].err == nil {
			break
		}
	}
	// The name is new, since a power cut may have taken numbers back that a destination has seen.
	if _, err := rand.Read(s.id[:]); err != nil {
		return found, err
	}
	if err := s.sent.refresh(); err != nil {
		return found, err
	}
	s.next = max(s.next, s.sent.most)
	found.Events = s.next - min(s.next, s.sent.least)
	return found, nil
}

func (s *Spool) syncSegment(path string) error {
	f, err := s.o.files.OpenFile(path, atomicfile.Append)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), s.o.files.SyncDir(s.dir))
}

// Keep appends lines, which are n complete ones, and returns when they are stored as safely as the
// options promise. With Options.Wait an error may also mean that they are stored but not sent yet.
func (s *Spool) Keep(ctx context.Context, lines []byte, n int) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(lines) == 0:
		return nil
	case len(lines) > MaxBatch || int64(len(lines)) > s.o.Bytes/2:
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(lines))
	case lines[len(lines)-1] != '\n' || Lines(lines) != n:
		return errors.New("a batch without a line end at its end, or with a wrong count")
	}
	b := &commit.Batch{Lines: lines, N: n}
	if err := s.queue.Keep(ctx, b); err != nil || s.o.Wait == 0 {
		return err
	}
	return s.sent.waitSent(ctx, b.End)
}

// writeBatches writes all batches in as few writes as possible and sets the Err of each.
func (s *Spool) writeBatches(batches []*commit.Batch) {
	now := s.o.Now()
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

// writePrefix writes the first n batches in one write and returns n and the error of all n.
func (s *Spool) writePrefix(batches []*commit.Batch, now time.Time) (n int, err error) {
	need := frameSize + int64(len(batches[0].Lines))
	room, err := s.checkRoom(need, now)
	if err != nil {
		return 1, err
	}
	if s.file != nil && (s.size+need > s.o.Segment || now.Sub(s.born) > s.maxSegmentTime()) {
		s.turnOver()
	}
	buf := s.buf[:0]
	if s.file == nil {
		if buf, err = s.beginSegment(buf, now); err != nil {
			s.updateCounts(func(c *counts) { c.failures++ })
			return len(batches), err
		}
	}
	most := min(maxWrite, room, max(s.o.Segment-s.size, need+headerSize))
	next := s.next
	for n < len(batches) && (n == 0 || int64(len(buf)+frameSize+len(batches[n].Lines)) <= most) {
		b := batches[n]
		f := frame{first: next, group: s.next, n: uint32(b.N), at: now, lines: b.Lines}
		buf, next = f.appendTo(buf), f.end()
		b.End = next
		n++
	}
	if cap(buf) <= 2*maxWrite {
		s.buf = buf
	}
	return n, s.appendFrames(buf, next, now)
}

// appendFrames writes frames, and with them events up to next.
func (s *Spool) appendFrames(frames []byte, next uint64, now time.Time) error {
	s.updateCounts(func(c *counts) { c.writes++ })
	n, err := s.file.Write(frames)
	if err == nil && n < len(frames) {
		err = io.ErrShortWrite
	}
	if err == nil && s.o.Fsync {
		if err = s.file.Sync(); err == nil && s.size == 0 {
			err = s.o.files.SyncDir(s.dir)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.counts.failures++
		s.abandonSegment()
		s.next = next // a reader may have seen some of them
		return err
	}
	if last := len(s.marks) - 1; last < 0 || now.Sub(s.marks[last].at) >= time.Second {
		if !s.hasUnsent() {
			s.marks = nil
		}
		s.marks = append(s.marks, timeMark{s.next, now})
	}
	s.size += int64(n)
	s.sizes[s.name] = s.size
	s.next, s.acked = next, next
	return nil
}

// abandonSegment closes a segment in which a write has failed. It truncates the failed write if
// possible, for the sake of a full disk; readers need no notice.
func (s *Spool) abandonSegment() {
	cut := s.file.Truncate(s.size)
	_ = s.file.Close()
	path := filepath.Join(s.dir, s.name)
	switch {
	case s.size == 0 && s.o.files.Remove(path) == nil:
		delete(s.sizes, s.name)
	case cut != nil:
		s.sizes[s.name] = s.size + int64(len(s.buf)) // at most
	}
	s.file = nil
}

// beginSegment makes a segment. Its header is written with the first frames.
func (s *Spool) beginSegment(buf []byte, now time.Time) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	path := segmentPath(s.dir, s.number)
	f, err := s.o.files.OpenFile(path, atomicfile.Append)
	if err != nil {
		return buf, err
	}
	s.file, s.name, s.size, s.born = f, filepath.Base(path), 0, now
	return header{s.id, s.next, s.acked, now}.appendTo(buf), nil
}

// turnOver ends a segment. Its content is synced already, if it has to be.
func (s *Spool) turnOver() {
	_ = s.file.Close()
	s.file = nil
}

// maxSegmentTime returns how long a segment is written to: readers free complete segments, and
// segments give the age of events after a restart.
func (s *Spool) maxSegmentTime() time.Duration {
	if s.o.Age > 0 {
		return max(time.Second, s.o.Age/8)
	}
	return time.Minute
}

func (s *Spool) updateCounts(change func(*counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

// Close writes the waiting batches, and closes the spool. Unsent events stay.
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

// Lines counts the lines in a batch.
func Lines(b []byte) int { return bytes.Count(b, []byte("\n")) }
