package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tarebench/tare/apps/ingest/commit"
	"github.com/tarebench/tare/internal/atomicfile"
)

// Options configure how a File stores lines. The zero value works.
type Options struct {
	Fsync  bool             // sync each write; without it, lines survive the process but not a power cut
	Rotate int64            // size of a file in bytes, unless a batch is larger; 0 means unlimited
	Now    func() time.Time // clock for names of rotated files; may be nil

	files atomicfile.Disk // nil means the operating system's
}

// MaxBatch limits the lines of one Keep of a [File], in bytes.
const MaxBatch = 64 << 20

// maxWrite limits a write of several batches, in bytes.
const maxWrite = 4 << 20

// File stores lines in a file. Batches that arrive during a write are then written and synced together.
//
// Above Options.Rotate bytes, the file is renamed to PATH.1, the next to PATH.2, with a clock to
// PATH.20060102T150405Z.1 in UTC. No file is ever overwritten. If renaming fails, writing continues.
//
// A failed or short write is undone, and all its batches fail. After a failed sync the disk is unknown: the
// file is renamed, truncated to its synced part, and replaced. Until then its name ends in .torn@ and the
// valid bytes.
//
// After a crash, or with Fsync a power cut, each acknowledged line exists exactly once. Others exist once or
// not at all.
//
// The empty file PATH.lock keeps other processes from opening the file. Other programs may read it up to the
// last line end.
type File struct {
	queue *commit.Queue
	store *store
	lock  io.Closer
}

var _ Sink = (*File)(nil)

// Open opens or creates the file at path. Its directory must exist. It removes cut bytes of an incomplete
// line.
func Open(path string, o Options) (f *File, cut int64, err error) {
	if o.files == nil {
		o.files = atomicfile.System{}
	}
	lock, err := o.files.Lock(path + ".lock")
	if err != nil {
		return nil, 0, err
	}
	f = &File{store: newStore(path, o), lock: lock}
	f.queue = commit.New(f.store.writeBatches)
	if cut, err = f.store.openStore(); err != nil {
		return nil, 0, errors.Join(err, f.store.close(), lock.Close())
	}
	return f, cut, nil
}

// Keep implements [Sink]. lines may have at most [MaxBatch] bytes.
func (f *File) Keep(ctx context.Context, lines []byte, _ int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch {
	case len(lines) == 0:
		return nil
	case len(lines) > MaxBatch:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(lines), MaxBatch)
	case lines[len(lines)-1] != '\n' || bytes.IndexByte(lines, 0) >= 0:
		return errors.New("a batch without a line end at its end, or with a zero byte in it")
	}
	return f.queue.Keep(ctx, &commit.Batch{Lines: lines})
}

// Close writes the waiting batches and closes the file. Further calls do nothing.
func (f *File) Close() error {
	return f.queue.Close(func() error {
		if f.lock == nil {
			return nil
		}
		err := errors.Join(f.store.close(), f.lock.Close())
		f.lock = nil
		return err
	})
}

// Stats counts the operations of a File since it was opened.
type Stats struct {
	Writes    int64 // each has one or more batches
	Syncs     int64
	Rotations int64
	Failures  int64 // writes, syncs and rotations that failed
}

// Stats returns the counters.
func (f *File) Stats() Stats {
	s := f.store
	return Stats{
		Writes:    s.writes.Load(),
		Syncs:     s.syncs.Load(),
		Rotations: s.rotations.Load(),
		Failures:  s.failures.Load(),
	}
}
