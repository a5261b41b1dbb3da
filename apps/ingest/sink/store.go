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

// store writes a [File] and its rotated files, in one goroutine at a time.
//
// Before each write makeReady repairs the file. It truncates a failed write, and replaces a file whose sync
// failed.
type store struct {
	path   string
	fsync  bool
	rotate int64
	now    func() time.Time // may be nil
	files  atomicfile.Disk

	file       atomicfile.Handle // nil if it must be opened
	validBytes int64             // bytes of complete lines
	synced     int64             // part of validBytes on stable storage; not used without fsync
	torn       bool              // bytes of a failed write may follow
	syncFailed bool              // only synced bytes are valid; the file must be replaced
	lastNumber int
	buf        []byte // joins batches that are written together

	writes, syncs, rotations, failures atomic.Int64
}

func newStore(path string, o Options) *store {
	return &store{path: path, fsync: o.Fsync, rotate: o.Rotate, now: o.Now, files: o.files}
}

// openStore repairs torn files and opens the file. It returns the bytes of an incomplete line that it removed.
func (s *store) openStore() (cut int64, err error) {
	names, err := s.files.List(filepath.Dir(s.path))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		rotated, ok := s.parseName(name)
		if !ok {
			continue
		}
		s.lastNumber = max(s.lastNumber, rotated.number)
		if rotated.torn {
			if err := s.truncateTorn(rotated); err != nil {
				return 0, err
			}
		}
	}
	return s.openFile()
}

// writeBatches writes all batches in as few writes as possible, and sets the Err of each.
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

// writePrefix writes the first batches at once: what fits into maxWrite and the file, at least one. They share
// the error.
func (s *store) writePrefix(batches []*commit.Batch) (n int, err error) {
	if err := s.makeReady(); err != nil {
		return len(batches), err
	}
	firstSize := int64(len(batches[0].Lines))
	isFull := s.rotate > 0 && s.validBytes > 0 && firstSize > s.rotate-s.validBytes
	if isFull {
		if err := s.rotateFile(); err != nil {
			s.failures.Add(1) // the batches are written to the same file
		}
		if err := s.makeReady(); err != nil {
			return len(batches), err
		}
	}
	maxSize := int64(maxWrite)
	if s.rotate > 0 {
		maxSize = min(maxSize, s.rotate-s.validBytes)
	}
	lines := batches[0].Lines // a single batch is not copied
	for n = 1; n < len(batches); n++ {
		more := batches[n].Lines
		if int64(len(lines)+len(more)) > maxSize {
			break
		}
		if n == 1 {
			lines = append(s.buf[:0], lines...)
		}
		lines = append(lines, more...)
		s.buf = lines
	}
	return n, s.appendLines(lines)
}

// appendLines writes lines at once. After an error none of them is valid.
func (s *store) appendLines(lines []byte) error {
	s.writes.Add(1)
	n, err := s.file.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	if err != nil {
		s.failures.Add(1)
		s.torn = true
		_ = s.makeReady() // helps readers; if it fails, the next write tries again
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

// syncFile syncs the file. After a failure the file must be replaced: the system may have dropped data, and a
// second sync would not report that.
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

// makeReady prepares the file for appending.
func (s *store) makeReady() error {
	if s.syncFailed {
		if err := s.replaceFile(); err != nil {
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
		// Otherwise a power cut could mix bytes of the failed write with those of the next.
		if err := s.syncFile(); err != nil {
			return err
		}
	}
	s.torn = false
	return nil
}

// openFile opens or creates the file. It returns the bytes of an incomplete line that it removed.
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
	// The file is new and empty, or rotateFile could not rename it.
	isKnown := size == s.validBytes
	if !isKnown {
		valid, err := completeLines(file, size)
		if err != nil {
			return 0, err
		}
		cut = size - valid
		if cut > 0 {
			if err := file.Truncate(valid); err != nil {
				return 0, err
			}
		}
		if s.fsync {
			s.syncs.Add(1)
			if err := file.Sync(); err != nil {
				return 0, err
			}
		}
		s.validBytes, s.synced = valid, valid
	}
	if s.fsync { // the name of the file
		if err := s.files.SyncDir(filepath.Dir(s.path)); err != nil {
			return 0, err
		}
	}
	s.file, s.torn = file, false
	return cut, nil
}

func (s *store) rotateFile() error {
	closeErr := s.file.Close()
	s.file = nil
	if _, err := s.renameFile(""); err != nil {
		return err
	}
	s.rotations.Add(1)
	s.validBytes, s.synced = 0, 0
	return closeErr
}

// replaceFile renames a file whose sync failed, or removes it if it has no valid bytes. The next makeReady
// creates another one.
func (s *store) replaceFile() error {
	if s.file != nil {
		_ = s.file.Close() // the sync has failed already
		s.file = nil
	}
	var rotated rotatedFile
	var err error
	if s.synced > 0 {
		rotated, err = s.renameFile(tornMark + strconv.FormatInt(s.synced, 10))
	} else if err = s.files.Remove(s.path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	s.syncFailed, s.torn, s.validBytes, s.synced = false, false, 0, 0
	if rotated.torn {
		_ = s.truncateTorn(rotated) // the next Open tries again
	}
	return nil
}

// truncateTorn truncates a rotated file whose sync failed to its valid bytes, and removes the mark from its
// name.
func (s *store) truncateTorn(rotated rotatedFile) error {
	path := filepath.Join(filepath.Dir(s.path), rotated.name)
	file, err := s.files.OpenFile(path, atomicfile.Append)
	if err != nil {
		return err
	}
	size, err := file.Size()
	if err == nil && size > rotated.validBytes {
		err = file.Truncate(rotated.validBytes)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return s.files.RenameNew(path, filepath.Join(filepath.Dir(s.path), rotated.finalName()))
}

func (s *store) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
