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
	"github.com/tarebench/tare/internal/atomicfile"
)

// store is the file at path and its rotated files. One goroutine at a time uses it.
type store struct {
	path   string
	fsync  bool
	rotate int64
	now    func() time.Time
	files  atomicfile.Disk

	file       atomicfile.Handle // at path; nil if it is to be opened
	validBytes int64             // bytes of complete lines in it
	synced     int64             // how many of these are on stable storage; only with fsync
	torn       bool              // more may follow them, of a write that failed
	syncFailed bool              // a sync failed: the file is to be renamed, and only the synced bytes are valid
	number     int               // of the last rotated file
	buf        []byte            // batches that are written together

	writes, syncs, rotations, failures atomic.Int64
}

func newStore(path string, o Options) *store {
	return &store{path: path, fsync: o.Fsync, rotate: o.Rotate, now: o.Now, files: o.files}
}

// openStore reads the existing files.
func (s *store) openStore() (cut int64, err error) {
	names, err := s.files.List(filepath.Dir(s.path))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		p, ok := s.parseName(name)
		if !ok {
			continue
		}
		s.number = max(s.number, p.number)
		if p.torn {
			if err := s.truncateTorn(p); err != nil {
				return 0, err
			}
		}
	}
	return s.openFile()
}

// writeBatches writes all batches in as few writes as possible and sets the Err of each.
func (s *store) writeBatches(batches []*commit.Batch) {
	for len(batches) > 0 {
		n, err := s.writePrefix(batches)
		if err != nil {
			err = fmt.Errorf("keep: %w", err)
		}
		for _, b := range batches[:n] {
			b.Err = err
		}
		batches = batches[n:]
	}
}

// writePrefix writes the first n batches in one write and returns n and the error of all n.
func (s *store) writePrefix(batches []*commit.Batch) (n int, err error) {
	if err := s.makeReady(); err != nil {
		return len(batches), err
	}
	if first := int64(len(batches[0].Lines)); s.rotate > 0 && s.validBytes > 0 && first > s.rotate-s.validBytes {
		if err := s.turnOver(); err != nil {
			s.failures.Add(1) // lines matter more than their file: writing to it continues
		}
		if err := s.makeReady(); err != nil {
			return len(batches), err
		}
	}
	most := int64(maxWrite)
	if s.rotate > 0 {
		most = min(most, s.rotate-s.validBytes)
	}
	lines := batches[0].Lines
	for n = 1; n < len(batches) && int64(len(lines)+len(batches[n].Lines)) <= most; n++ {
		if n == 1 {
			lines = append(s.buf[:0], lines...)
		}
		lines = append(lines, batches[n].Lines...)
		s.buf = lines
	}
	return n, s.appendLines(lines)
}

// appendLines writes lines, all or none of them. After an error of the sync they are not valid.
func (s *store) appendLines(lines []byte) error {
	s.writes.Add(1)
	n, err := s.file.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	if err != nil {
		s.failures.Add(1)
		s.torn = true
		_ = s.makeReady() // undone immediately, for readers; if that fails, before the next write
		return err
	}
	s.validBytes += int64(n)
	if !s.fsync {
		return nil
	}
	if err := s.syncFile(); err != nil {
		_ = s.makeReady()
		return err
	}
	return nil
}

// syncFile marks the file for renaming if it fails: the system may have dropped the unwritten data,
// and a second sync would not report that.
func (s *store) syncFile() error {
	s.syncs.Add(1)
	if err := s.file.Sync(); err != nil {
		s.failures.Add(1)
		s.syncFailed = true
		return err
	}
	s.synced = s.validBytes
	return nil
}

// makeReady brings the file to a state where lines can be appended.
func (s *store) makeReady() error {
	if s.syncFailed {
		if err := s.giveUp(); err != nil {
			return err
		}
	}
	if s.file == nil {
		if _, err := s.openFile(); err != nil {
			return err
		}
	}
	if !s.torn {
		return nil
	}
	if err := s.file.Truncate(s.validBytes); err != nil {
		return err
	}
	if s.fsync {
		// Else, after a power cut, bytes of the failed write could be found
		// among those of the next.
		if err := s.syncFile(); err != nil {
			return err
		}
	}
	s.torn = false
	return nil
}

// openFile opens the file, or makes it, and removes an incomplete line.
func (s *store) openFile() (cut int64, err error) {
	file, err := s.files.OpenFile(s.path, atomicfile.Append)
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
	if size != s.validBytes { // it is not one that was closed to be renamed
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
		s.validBytes, s.synced = good, good
	}
	if s.fsync {
		if err := s.files.SyncDir(filepath.Dir(s.path)); err != nil {
			return 0, err
		}
	}
	s.file, s.torn = file, false
	return cut, nil
}

// turnOver renames the file to the next number. Its content is synced already, if it has to be.
func (s *store) turnOver() error {
	closed := s.file.Close()
	s.file = nil
	if _, err := s.putAway(""); err != nil {
		return err
	}
	s.rotations.Add(1)
	s.validBytes, s.synced = 0, 0
	return closed
}

// giveUp renames a file whose sync failed, or removes it if it has no valid bytes.
func (s *store) giveUp() error {
	if s.file != nil {
		_ = s.file.Close() // its error can be no worse
		s.file = nil
	}
	var p rotatedFile
	var err error
	if s.synced > 0 {
		p, err = s.putAway(tornMark + strconv.FormatInt(s.synced, 10))
	} else if err = s.files.Remove(s.path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	s.syncFailed, s.torn, s.validBytes, s.synced = false, false, 0, 0
	if p.torn {
		_ = s.truncateTorn(p) // or else when it is opened again
	}
	return nil
}

// truncateTorn truncates a file whose sync failed to its valid bytes, and gives it the name of a
// rotated one.
func (s *store) truncateTorn(p rotatedFile) error {
	name := filepath.Join(filepath.Dir(s.path), p.name)
	file, err := s.files.OpenFile(name, atomicfile.Append)
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
	return s.files.RenameNew(name, filepath.Join(filepath.Dir(s.path), p.finalName()))
}

func (s *store) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
