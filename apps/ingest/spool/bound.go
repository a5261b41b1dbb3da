package spool

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// checkRoom returns how many bytes may be written, and an error if there are fewer than need, or if
// the oldest event waits for too long.
func (s *Spool) checkRoom(need int64, now time.Time) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := s.o.Bytes - s.totalBytes()
	if s.file == nil {
		room -= headerSize
	}
	var err error
	if room < need || s.o.Age > 0 {
		if err = s.refreshReaders(now, room < need); err != nil {
			return 0, err
		}
		if room = s.o.Bytes - s.totalBytes() - headerSize; room < need {
			err = fmt.Errorf("%w: its segments have %d bytes of at most %d", ErrFull, s.totalBytes(), s.o.Bytes)
		} else if age := s.oldestAge(now); s.o.Age > 0 && age > s.o.Age {
			err = fmt.Errorf("%w: its oldest event waits for %v, at most %v", ErrFull, age.Round(time.Second), s.o.Age)
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

// refreshReaders reads the progress of readers, unless that was done just now.
func (s *Spool) refreshReaders(now time.Time, full bool) error {
	const often = 20 * time.Millisecond // interval at which a full spool is read
	since := now.Sub(s.sent.at)
	if s.sent.at.IsZero() || since < 0 || since >= often*10 || full && since >= often { // below 0: the clock was set back
		s.sent.at = now
		return s.readDir()
	}
	return nil
}

// readDir reads the directory: the remaining segments, and the positions of readers.
func (s *Spool) readDir() error {
	names, err := s.o.files.List(s.dir)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	for name := range s.sizes {
		if !there[name] {
			delete(s.sizes, name)
		}
	}
	if err := s.sent.readCursors(names); err != nil {
		return err
	}
	least, _ := s.sent.positions()
	for len(s.marks) > 1 && s.marks[1].first <= least {
		s.marks = s.marks[1:]
	}
	return nil
}

// hasUnsent reports whether some reader has not sent an acknowledged event.
func (s *Spool) hasUnsent() bool {
	least, _ := s.sent.positions()
	return least < s.acked
}

// oldestAge returns the age of the oldest event that some reader has not sent, or 0.
func (s *Spool) oldestAge(now time.Time) time.Duration {
	if len(s.marks) == 0 || !s.hasUnsent() {
		return 0
	}
	return now.Sub(s.marks[0].at)
}

// readerState contains the positions of readers.
type readerState struct {
	spool *Spool
	at    time.Time // of the last reading, under the spool's lock

	mu          sync.Mutex
	cursors     []Cursor
	least, most uint64
	waiting     int
	following   bool
	moved       chan struct{} // closed when least has risen
}

func (s *readerState) positions() (least, most uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.least, s.most
}

// refresh lists the directory, and reads the cursors in it.
func (s *readerState) refresh() error {
	names, err := s.spool.o.files.List(s.spool.dir)
	if err != nil {
		return err
	}
	return s.readCursors(names)
}

// readCursors reads the cursors among names.
func (s *readerState) readCursors(names []string) error {
	list, err := listCursors(s.spool.o.files, s.spool.dir, names)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.least
	s.cursors, s.least, s.most = list, 0, 0
	for i, c := range list {
		if i == 0 || c.Position < s.least {
			s.least = c.Position
		}
		s.most = max(s.most, c.Position)
	}
	if s.least > before {
		close(s.moved)
		s.moved = make(chan struct{})
	}
	return nil
}

// waitSent waits until all readers have sent the events before end.
func (s *readerState) waitSent(ctx context.Context, end uint64) error {
	late := time.NewTimer(s.spool.o.Wait)
	defer late.Stop()
	s.mu.Lock()
	if s.waiting++; !s.following {
		s.following = true
		go s.pollCursors()
	}
	defer func() {
		s.mu.Lock()
		s.waiting--
		s.mu.Unlock()
	}()
	for s.least < end {
		moved := s.moved
		s.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("%w: %v", ErrWait, s.spool.o.Wait)
		}
		s.mu.Lock()
	}
	s.mu.Unlock()
	return nil
}

// pollCursors reads the cursors for as long as a caller waits.
func (s *readerState) pollCursors() {
	const often = 2 * time.Millisecond
	for {
		_ = s.refresh() // or the next time
		s.mu.Lock()
		if s.waiting == 0 {
			s.following = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		time.Sleep(often)
	}
}

// Status contains the state and the counters of a spool.
type Status struct {
	Next     uint64        // number of the next event
	Bytes    int64         // of all segments
	Bound    int64         // that they may have
	Age      time.Duration // of the oldest event that some reader has not sent
	Late     bool          // it is more than it may be
	Writes   int64         // of one batch or more
	Failures int64         // writes that failed
	Full     int64         // batches rejected because the spool was full
	Cursors  []Cursor
}

// Status reads the directory.
func (s *Spool) Status() Status {
	now := s.o.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.readDir() // what is known is better than nothing
	st := Status{
		Next: s.next, Bytes: s.totalBytes(), Bound: s.o.Bytes, Age: s.oldestAge(now),
		Writes: s.counts.writes, Failures: s.counts.failures, Full: s.counts.full,
	}
	st.Late = s.o.Age > 0 && st.Age > s.o.Age
	s.sent.mu.Lock()
	defer s.sent.mu.Unlock()
	st.Cursors = s.sent.cursors
	return st
}
