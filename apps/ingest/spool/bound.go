package spool

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// This file limits the size of a spool, files in which events wait to be sent, and the age of its events.
// For this the writer reads from the directory how far the readers are, which send the events.

// checkRoom returns the number of bytes that can still be written to the spool. It returns ErrFull if
// they are fewer than need, or if the oldest unsent event is older than Options.Age. If Options.Age is
// set, or the room is too small, it first reads the progress of the readers, which may have removed
// segments.
func (s *Spool) checkRoom(need int64, now time.Time) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := s.options.Bytes - s.totalBytes()
	if s.file == nil {
		room -= headerSize
	}
	var err error
	isFull := room < need
	if isFull || s.options.Age > 0 {
		if err = s.refreshReaders(now, isFull); err != nil {
			return 0, err
		}
		room = s.options.Bytes - s.totalBytes() - headerSize
		switch age := s.oldestAge(now); {
		case room < need:
			err = fmt.Errorf("%w: its segments have %d bytes of at most %d", ErrFull, s.totalBytes(), s.options.Bytes)
		case s.options.Age > 0 && age > s.options.Age:
			err = fmt.Errorf("%w: its oldest event waits for %v, at most %v", ErrFull, age.Round(time.Second), s.options.Age)
		}
	}
	if err != nil {
		s.counts.full++
	}
	return room, err
}

func (s *Spool) totalBytes() int64 {
	total := int64(0)
	for _, size := range s.sizes {
		total += size
	}
	return total
}

// Intervals at which the writer reads the progress of the readers, to see their effect on the room and
// the age of the spool.
const (
	refreshInterval     = 200 * time.Millisecond
	fullRefreshInterval = 20 * time.Millisecond // while the spool is full
)

// refreshReaders reads the progress of the readers, unless it was read less than an interval ago.
func (s *Spool) refreshReaders(now time.Time, isFull bool) error {
	interval := refreshInterval
	if isFull {
		interval = fullRefreshInterval
	}
	since := now.Sub(s.readers.lastRead)
	clockWasSetBack := since < 0
	if !s.readers.lastRead.IsZero() && !clockWasSetBack && since < interval {
		return nil
	}
	s.readers.lastRead = now
	return s.readDir()
}

// readDir updates the sizes and marks from the directory: readers may have removed segments and
// advanced their positions.
func (s *Spool) readDir() error {
	names, err := s.options.files.List(s.dir)
	if err != nil {
		return err
	}
	exists := map[string]bool{}
	for _, name := range names {
		exists[name] = true
	}
	for name := range s.sizes {
		if !exists[name] {
			delete(s.sizes, name)
		}
	}
	if err := s.readers.readCursors(names); err != nil {
		return err
	}
	minPosition, _ := s.readers.positions()
	for len(s.marks) > 1 && s.marks[1].first <= minPosition {
		s.marks = s.marks[1:]
	}
	return nil
}

// hasUnsent reports whether a reader has not sent all acknowledged events.
func (s *Spool) hasUnsent() bool {
	minPosition, _ := s.readers.positions()
	return minPosition < s.acked
}

// oldestAge returns the age of the oldest event that a reader has not sent, or 0 if all are sent.
func (s *Spool) oldestAge(now time.Time) time.Duration {
	if len(s.marks) == 0 || !s.hasUnsent() {
		return 0
	}
	return now.Sub(s.marks[0].at)
}

// readerState contains the positions of the readers as the writer last read them from the cursors.
type readerState struct {
	spool    *Spool
	lastRead time.Time // time of the last refreshReaders; guarded by the lock of the spool

	mu          sync.Mutex // guards the following fields
	cursors     []Cursor
	minPosition uint64        // position of the slowest reader; 0 if there are no readers
	maxPosition uint64        // position of the fastest reader
	waiting     int           // number of callers in waitSent
	polling     bool          // pollCursors is running
	advanced    chan struct{} // closed and replaced when minPosition has risen
}

// positions returns the positions of the slowest and the fastest reader.
func (s *readerState) positions() (minPosition, maxPosition uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.minPosition, s.maxPosition
}

// refresh reads the cursors in the directory.
func (s *readerState) refresh() error {
	names, err := s.spool.options.files.List(s.spool.dir)
	if err != nil {
		return err
	}
	return s.readCursors(names)
}

// readCursors reads the cursors among the files of the directory, and wakes callers of waitSent.
func (s *readerState) readCursors(names []string) error {
	list, err := listCursors(s.spool.options.files, s.spool.dir, names)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	previousMin := s.minPosition
	s.cursors = list
	s.minPosition, s.maxPosition = 0, 0
	for i, c := range list {
		if i == 0 || c.Position < s.minPosition {
			s.minPosition = c.Position
		}
		s.maxPosition = max(s.maxPosition, c.Position)
	}
	if s.minPosition > previousMin { // wake the callers of waitSent
		close(s.advanced)
		s.advanced = make(chan struct{})
	}
	return nil
}

// waitSent waits until all readers have sent the events with numbers below end. It returns ErrWait if
// that takes longer than Options.Wait.
func (s *readerState) waitSent(ctx context.Context, end uint64) error {
	timeout := time.NewTimer(s.spool.options.Wait)
	defer timeout.Stop()
	s.beginWait()
	defer s.endWait()
	for {
		isSent, advanced := s.checkSent(end)
		if isSent {
			return nil
		}
		select {
		case <-advanced:
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout.C:
			return fmt.Errorf("%w: %v", ErrWait, s.spool.options.Wait)
		}
	}
}

// beginWait counts a caller of waitSent, and starts pollCursors unless it is running.
func (s *readerState) beginWait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting++
	if !s.polling {
		s.polling = true
		go s.pollCursors()
	}
}

// endWait counts a caller of waitSent that has returned.
func (s *readerState) endWait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
}

// checkSent reports whether all readers have sent the events with numbers below end. advanced is closed
// when the slowest reader has made progress after the call.
func (s *readerState) checkSent(end uint64) (isSent bool, advanced <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.minPosition >= end, s.advanced
}

// pollCursors reads the cursors again and again while a caller waits in waitSent.
func (s *readerState) pollCursors() {
	const interval = 2 * time.Millisecond
	for {
		_ = s.refresh() // after an error the next iteration tries again
		s.mu.Lock()
		if s.waiting == 0 {
			s.polling = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		time.Sleep(interval)
	}
}

// Status contains the state and the counters of a spool.
type Status struct {
	Next     uint64        // number of the next event
	Bytes    int64         // size of all segments
	Bound    int64         // maximum of Bytes
	Age      time.Duration // age of the oldest event that a reader has not sent; 0 if all are sent
	Late     bool          // Age exceeds Options.Age
	Writes   int64         // number of writes, each of one or more batches
	Failures int64         // number of failed writes
	Full     int64         // number of batches that were rejected because the spool was full
	Cursors  []Cursor      // of all readers, as last read; the caller must not change them
}

// Status reads the progress of the readers and returns the state of the spool.
func (s *Spool) Status() Status {
	now := s.options.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.readDir() // after an error, report the state as last read
	st := Status{
		Next: s.next, Bytes: s.totalBytes(), Bound: s.options.Bytes, Age: s.oldestAge(now),
		Writes: s.counts.writes, Failures: s.counts.failures, Full: s.counts.full,
	}
	st.Late = s.options.Age > 0 && st.Age > s.options.Age
	s.readers.mu.Lock()
	defer s.readers.mu.Unlock()
	st.Cursors = s.readers.cursors
	return st
}
