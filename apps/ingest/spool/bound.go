package spool

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A spool is files in which events wait to be sent. Its size and the age of its events are limited.

// checkRoom returns the bytes that can be written. It returns ErrFull without room, or if an unsent event is
// older than Options.Age. It first reads the progress of the readers, which send events and remove segments.
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

const (
	refreshInterval     = 200 * time.Millisecond
	fullRefreshInterval = 20 * time.Millisecond // while the spool is full
)

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

// readDir updates sizes and marks from the directory, which readers may have changed.
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

func (s *Spool) hasUnsent() bool {
	minPosition, _ := s.readers.positions()
	return minPosition < s.acked
}

// oldestAge returns the age of the oldest unsent event, or 0 if all are sent.
func (s *Spool) oldestAge(now time.Time) time.Duration {
	if len(s.marks) == 0 || !s.hasUnsent() {
		return 0
	}
	return now.Sub(s.marks[0].at)
}

// readerState has the values that the writer last read.
type readerState struct {
	spool    *Spool
	lastRead time.Time // guarded by the lock of the spool

	mu          sync.Mutex // guards the following fields
	cursors     []Cursor
	minPosition uint64 // slowest reader; 0 without readers
	maxPosition uint64
	waiting     int // callers in waitSent
	polling     bool
	advanced    chan struct{} // closed and replaced when minPosition rises
}

func (s *readerState) positions() (minPosition, maxPosition uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.minPosition, s.maxPosition
}

func (s *readerState) refresh() error {
	names, err := s.spool.options.files.List(s.spool.dir)
	if err != nil {
		return err
	}
	return s.readCursors(names)
}

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

// waitSent waits until all readers have sent the events below end, or Options.Wait has passed.
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

func (s *readerState) beginWait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting++
	if !s.polling {
		s.polling = true
		go s.pollCursors()
	}
}

func (s *readerState) endWait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
}

// checkSent reports whether all readers have sent the events below end. It returns a channel that is closed at
// the slowest reader's next progress.
func (s *readerState) checkSent(end uint64) (isSent bool, advanced <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.minPosition >= end, s.advanced
}

func (s *readerState) pollCursors() {
	const interval = 2 * time.Millisecond
	for {
		_ = s.refresh() // the next iteration tries again
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
	Age      time.Duration // age of the oldest unsent event; 0 if all are sent
	Late     bool          // Age exceeds Options.Age
	Writes   int64         // each has one or more batches
	Failures int64
	Full     int64    // batches rejected because the spool was full
	Cursors  []Cursor // last read ones of all readers; the caller must not change them
}

// Status reads the progress of the readers and returns the state of the spool.
func (s *Spool) Status() Status {
	now := s.options.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.readDir() // reports the last state after an error
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
