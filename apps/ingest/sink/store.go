package sink

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tarebench/tare/apps/ingest/commit"
	"github.com/tarebench/tare/internal/whole"
)

// store is the file at path and those that were put away. One goroutine at a
// time uses it.
type store struct {
	path   string
	fsync  bool
	rotate int64
	now    func() time.Time
	files  whole.Disk

	file    whole.Handle // at path; nil: it is to be opened
	written int64        // bytes of whole lines in it
	synced  int64        // how many of these are on stable storage; only with fsync
	torn    bool         // more may follow them, of a write that failed
	given   bool         // a sync failed: the file is to be put away, and only what is synced counts
	number  int          // of the last file that was put away
	buf     []byte       // batches that are written together

	writes, syncs, rotations, failures atomic.Int64
}

func newStore(path string, o Options) *store {
	return &store{path: path, fsync: o.Fsync, rotate: o.Rotate, now: o.Now, files: o.files}
}

// open takes up what is there.
func (s *store) open() (cut int64, err error) {
	names, err := s.files.List(filepath.Dir(s.path))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		p, ok := s.parse(name)
		if !ok {
			continue
		}
		s.number = max(s.number, p.number)
		if p.torn {
			if err := s.settle(p); err != nil {
				return 0, err
			}
		}
	}
	return s.begin()
}

// keep writes batches, as many at once as may be.
func (s *store) keep(batches []*commit.Batch) {
	for len(batches) > 0 {
		n, err := s.some(batches)
		if err != nil {
			err = fmt.Errorf("keep: %w", err)
		}
		for _, b := range batches[:n] {
			b.Err = err
		}
		batches = batches[n:]
	}
}

// some writes the first few of batches and says how many these are. The error
// is that of each.
func (s *store) some(batches []*commit.Batch) (n int, err error) {
	if err := s.ready(); err != nil {
		return len(batches), err
	}
	if first := int64(len(batches[0].Lines)); s.rotate > 0 && s.written > 0 && first > s.rotate-s.written {
		if err := s.turnOver(); err != nil {
			s.failures.Add(1) // lines matter more than where they are: the file is written on
		}
		if err := s.ready(); err != nil {
			return len(batches), err
		}
	}
	most := int64(maxWrite)
	if s.rotate > 0 {
		most = min(most, s.rotate-s.written)
	}
	lines := batches[0].Lines
	for n = 1; n < len(batches) && int64(len(lines)+len(batches[n].Lines)) <= most; n++ {
		if n == 1 {
			lines = append(s.buf[:0], lines...)
		}
		lines = append(lines, batches[n].Lines...)
		s.buf = lines
	}
	return n, s.append(lines)
}

// append writes lines, all or none of them. An error of the sync leaves them
// where they do not count.
func (s *store) append(lines []byte) error {
	s.writes.Add(1)
	n, err := s.file.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	if err != nil {
		s.failures.Add(1)
		s.torn = true
		_ = s.ready() // undone at once, for those who read; if that fails, before the next write
		return err
	}
	s.written += int64(n)
	if !s.fsync {
		return nil
	}
	if err := s.sync(); err != nil {
		_ = s.ready()
		return err
	}
	return nil
}

// sync gives the file up where it fails: the system may have dropped what it
// could not write, and a second sync would say nothing of it.
func (s *store) sync() error {
	s.syncs.Add(1)
	if err := s.file.Sync(); err != nil {
		s.failures.Add(1)
		s.given = true
		return err
	}
	s.synced = s.written
	return nil
}

// ready brings the file to where lines can be appended.
func (s *store) ready() error {
	if s.given {
		if err := s.giveUp(); err != nil {
			return err
		}
	}
	if s.file == nil {
		if _, err := s.begin(); err != nil {
			return err
		}
	}
	if !s.torn {
		return nil
	}
	if err := s.file.Truncate(s.written); err != nil {
		return err
	}
	if s.fsync {
		// Else, after a power cut, bytes of the failed write could be found
		// among those of the next.
		if err := s.sync(); err != nil {
			return err
		}
	}
	s.torn = false
	return nil
}

// begin opens the file, or makes it, and cuts off what is no whole line.
func (s *store) begin() (cut int64, err error) {
	file, err := s.files.OpenFile(s.path, whole.Append)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	size, err := file.Size()
	if err != nil {
		return 0, err
	}
	if size != s.written { // it is not one that was closed to be put away
		good, err := wholeLines(file, size)
		if err != nil {
			return 0, err
		}
		cut = size - good
		if cut > 0 {
			if err := file.Truncate(good); err != nil {
				return 0, err
			}
		}
		if s.fsync {
			s.syncs.Add(1)
			if err := file.Sync(); err != nil {
				return 0, err
			}
		}
		s.written, s.synced = good, good
	}
	if s.fsync {
		if err := s.files.SyncDir(filepath.Dir(s.path)); err != nil {
			return 0, err
		}
	}
	s.file, s.torn = file, false
	return cut, nil
}

// turnOver puts the file away under the next number. What is in it is synced
// already, where it has to be.
func (s *store) turnOver() error {
	closed := s.file.Close()
	s.file = nil
	if _, err := s.putAway(""); err != nil {
		return err
	}
	s.rotations.Add(1)
	s.written, s.synced = 0, 0
	return closed
}

// giveUp puts away a file that failed to be synced, or removes it where nothing
// in it counts.
func (s *store) giveUp() error {
	if s.file != nil {
		_ = s.file.Close() // its error can be no worse
		s.file = nil
	}
	var p piece
	var err error
	if s.synced > 0 {
		p, err = s.putAway(tornMark + strconv.FormatInt(s.synced, 10))
	} else if err = s.files.Remove(s.path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	s.given, s.torn, s.written, s.synced = false, false, 0, 0
	if p.torn {
		_ = s.settle(p) // or else when it is opened again
	}
	return nil
}

// settle cuts a file that was given up back to what counts, and gives it the
// name of one that was put away.
func (s *store) settle(p piece) error {
	name := filepath.Join(filepath.Dir(s.path), p.name)
	file, err := s.files.OpenFile(name, whole.Append)
	if err != nil {
		return err
	}
	size, err := file.Size()
	if err == nil && size > p.good {
		err = file.Truncate(p.good)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return s.files.RenameNew(name, filepath.Join(filepath.Dir(s.path), p.settled()))
}

func (s *store) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
