package spool

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tarebench/tare/internal/atomicfile"
)

// Readers has a spool's readers, one per destination. Only one process at a time can open them.
type Readers struct {
	dir   string
	files atomicfile.Disk
	list  []*Reader // same order as in OpenReaders
	lock  io.Closer // excludes other processes

	mu        sync.Mutex
	positions map[string]uint64 // saved positions, by name
}

// OpenReaders opens the readers names in dir, which must exist. It rejects a cursor with another name: its
// segments would never be removed. With fsync, a power cut moves a cursor back by at most one batch. report is
// called for damage.
func OpenReaders(dir string, names []string, fsync bool, report func(Damage)) (*Readers, error) {
	return openReaders(atomicfile.System{}, dir, names, fsync, report)
}

func openReaders(files atomicfile.Disk, dir string, names []string, fsync bool, report func(Damage)) (_ *Readers, err error) {
	lock, err := files.Lock(filepath.Join(dir, "read.lock"))
	if err != nil {
		return nil, err
	}
	r := &Readers{dir: dir, files: files, lock: lock, positions: map[string]uint64{}}
	defer func() {
		if err != nil {
			_ = r.Close()
		}
	}()
	fileNames, err := files.List(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range fileNames {
		if name, ok := cursorName(file); ok && !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s has a cursor of %s, which is not among the sinks: name it as well, or remove %s where what it has not sent is not wanted",
				dir, name, cursorPath(dir, name))
		}
	}
	for _, name := range names {
		reader, err := r.openReader(name, fsync, report)
		if err != nil {
			return nil, err
		}
		r.list = append(r.list, reader)
		r.positions[name] = reader.state.Position
	}
	return r, files.SyncDir(dir)
}

func (r *Readers) openReader(name string, fsync bool, report func(Damage)) (*Reader, error) {
	if name == "" || strings.ContainsAny(name, `/\:`) {
		return nil, fmt.Errorf("%q cannot be the name of a cursor", name)
	}
	f, err := r.files.OpenFile(cursorPath(r.dir, name), atomicfile.Overwrite)
	if err != nil {
		return nil, err
	}
	c, file, err := readCursor(f)
	switch {
	case errors.Is(err, errCursor): // c is at the start, so all events are sent again
		report(Damage{Segment: cursorPath(r.dir, name), Bytes: cursorFileSize})
	case err != nil:
		return nil, errors.Join(err, f.Close())
	}
	c.Name = name
	reader := &Reader{
		dir: r.dir, files: r.files, fsync: fsync, report: report,
		cursor: file, state: c, saved: c, next: c.Position,
	}
	isNew := file.number == 0
	if isNew { // write all four slots, so that the file never grows
		err = errors.Join(
			reader.cursor.writeSlot(c), reader.cursor.writeSlot(c), // slots 0 and 1
			reader.cursor.syncSlot(c), reader.cursor.syncSlot(c), // slots 3 and 2
		)
	}
	if err != nil && !errors.Is(err, errCursor) {
		return nil, errors.Join(err, f.Close())
	}
	return reader, nil
}

// All returns the readers, in the order of the names that [OpenReaders] received.
func (r *Readers) All() []*Reader { return r.list }

// Free removes segments that all readers have sent. Call it in the goroutine of reader, after progress.
func (r *Readers) Free(reader *Reader) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.positions[reader.state.Name] = reader.saved.Position
	minPosition := reader.saved.Position
	for _, position := range r.positions {
		minPosition = min(minPosition, position)
	}
	list, err := listSegments(r.files, r.dir, 0)
	if err != nil {
		return err
	}
	last := -1 // all events before this segment are sent
	for i, g := range list {
		if g.err == nil && g.header.after <= minPosition {
			last = i
		}
	}
	if last <= 0 {
		return nil
	}
	// Sync first: a power cut must not move a cursor into a removed segment, whose events would seem lost.
	for _, other := range r.list {
		if err := other.syncCursor(); err != nil {
			return err
		}
	}
	for _, g := range list[:last] {
		if err := r.files.Remove(g.path); err != nil {
			return err
		}
	}
	return nil
}

// Left returns the slowest reader's number of unsent events. Numbers of failed writes count, too, so it may be
// too high.
func (r *Readers) Left() (uint64, error) {
	list, err := listSegments(r.files, r.dir, 0)
	if err != nil {
		return 0, err
	}
	next := uint64(0)
	for i, g := range list {
		if g.err == nil {
			next = max(next, g.header.first)
		}
		if i == len(list)-1 {
			tail, err := scanSegment(r.files, g)
			if err != nil {
				return 0, err
			}
			next = max(next, tail.next)
		}
	}
	minPosition := next
	for _, reader := range r.list {
		minPosition = min(minPosition, reader.state.Position)
	}
	return next - minPosition, nil
}

// Close closes all readers. Their goroutines must have ended.
func (r *Readers) Close() error {
	var errs []error
	for _, reader := range r.list {
		reader.close()
		errs = append(errs, reader.syncCursor(), reader.cursor.file.Close())
	}
	return errors.Join(append(errs, r.lock.Close())...)
}
