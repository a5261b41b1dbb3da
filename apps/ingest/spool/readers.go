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

// Readers are all readers of a spool, in one process.
type Readers struct {
	dir   string
	files atomicfile.Disk
	list  []*Reader
	lock  io.Closer

	mu   sync.Mutex
	done map[string]uint64 // position of each
}

// OpenReaders opens the readers of those names in dir, which exists. It rejects a spool with a
// reader that is not named: its unsent events would never be freed. With fsync a power cut takes
// the cursor of a reader back by one batch at most. It calls report for all unreadable bytes, from
// any goroutine that calls Take.
func OpenReaders(dir string, names []string, fsync bool, report func(Damage)) (*Readers, error) {
	return openReaders(atomicfile.System{}, dir, names, fsync, report)
}

func openReaders(files atomicfile.Disk, dir string, names []string, fsync bool, report func(Damage)) (_ *Readers, err error) {
	lock, err := files.Lock(filepath.Join(dir, "read.lock"))
	if err != nil {
		return nil, err
	}
	r := &Readers{dir: dir, files: files, lock: lock, done: map[string]uint64{}}
	defer func() {
		if err != nil {
			_ = r.Close()
		}
	}()
	there, err := files.List(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range there {
		if name, ok := cursorName(file); ok && !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s has a cursor of %s, which is not among the sinks: name it as well, or remove %s where what it has not sent is not wanted",
				dir, name, cursorPath(dir, name))
		}
	}
	for _, name := range names {
		one, err := r.openReader(name, fsync, report)
		if err != nil {
			return nil, err
		}
		r.list = append(r.list, one)
		r.done[name] = one.state.Position
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
	case errors.Is(err, errCursor):
		report(Damage{Segment: cursorPath(r.dir, name), Bytes: cursorFileSize}) // all events are sent again
	case err != nil:
		return nil, errors.Join(err, f.Close())
	}
	c.Name = name
	one := &Reader{dir: r.dir, files: r.files, fsync: fsync, report: report, cursor: file, state: c, saved: c, at: c.Position}
	if file.number == 0 { // all slots exist from now on, so that the file never grows
		err = errors.Join(one.cursor.writeSlot(c), one.cursor.writeSlot(c), one.cursor.syncSlot(c), one.cursor.syncSlot(c))
	}
	if err != nil && !errors.Is(err, errCursor) {
		return nil, errors.Join(err, f.Close())
	}
	return one, nil
}

// All returns the readers, in the order of their names.
func (r *Readers) All() []*Reader { return r.list }

// Free removes the segments that all readers are done with. The goroutine of a reader calls it,
// about that one.
func (r *Readers) Free(one *Reader) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[one.state.Name] = one.saved.Position
	least := one.saved.Position
	for _, position := range r.done {
		least = min(least, position)
	}
	list, err := listSegments(r.files, r.dir, 0)
	if err != nil {
		return err
	}
	last := -1 // segment that everything before is sent of
	for i, g := range list {
		if g.err == nil && g.header.after <= least {
			last = i
		}
	}
	if last <= 0 {
		return nil
	}
	// After a power cut no cursor may be before a removed segment: that would look like a loss.
	for _, reader := range r.list {
		if err := reader.syncCursor(); err != nil {
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

// Left returns at most how many events the slowest reader has not sent: numbers of writes that
// failed count as well.
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
			e, err := scanSegment(r.files, g)
			if err != nil {
				return 0, err
			}
			next = max(next, e.next)
		}
	}
	least := next
	for _, one := range r.list {
		least = min(least, one.state.Position)
	}
	return next - least, nil
}

// Close closes all readers, whose goroutines have ended.
func (r *Readers) Close() error {
	var errs []error
	for _, one := range r.list {
		one.close()
		errs = append(errs, one.syncCursor(), one.cursor.file.Close())
	}
	return errors.Join(append(errs, r.lock.Close())...)
}
