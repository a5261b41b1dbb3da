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
	Fsync  bool             // sync each write to stable storage; without it, lines survive the end of the process but not a power cut
	Rotate int64            // maximum size of a file in bytes, unless a single batch is larger; 0 means no maximum
	Now    func() time.Time // clock for the times in the names of rotated files; nil means names without a time

	files atomicfile.Disk // file system; nil means the operating system's
}

// MaxBatch is the largest size of the lines of one Keep of a [File], in bytes.
const MaxBatch = 64 << 20

// maxWrite is the maximum size in bytes of a write that joins several batches.
const maxWrite = 4 << 20

// File stores lines in a file, one after the other.
//
// Batches that arrive while others are being written wait. They are then written together and synced
// together, so that many concurrent callers need few writes.
//
// A file that would become larger than Options.Rotate is renamed to PATH.1, the next file to PATH.2
// and so on, or with a clock to PATH.20060102T150405Z.1; the time is UTC. A number is used once, and
// no file is ever overwritten. If a file cannot be renamed, writing to it continues.
//
// A write that fails or is short, as on a full disk, is undone: all batches that were written together
// fail, and their bytes are removed. After a failed sync the content of the disk is unknown. The file
// is then renamed and truncated to its synced part, and another file is created. While the file cannot
// be truncated, its name ends in .torn@ and the number of valid bytes, and the next [Open] tries again.
//
// After the process was killed, or with Fsync after a power cut, each acknowledged line exists exactly
// once. Other lines exist once or not at all. [Open] removes an incomplete line.
//
// The file PATH.lock keeps a second process from opening the file, if the system supports locks. It
// is empty and is never removed. No other program may write to the file, truncate it or rename it.
// Other programs may read it at any time, up to the last line end.
type File struct {
	queue *commit.Queue
	store *store
	lock  io.Closer // nil if closed
}

var _ Sink = (*File)(nil)

// Open opens the file at path, or creates it. Its directory must exist. Open removes an incomplete
// line at the end of the file, which a process leaves that is killed during a write; cut is the
// number of removed bytes.
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
	Writes    int64 // number of writes, each of one or more batches
	Syncs     int64
	Rotations int64
	Failures  int64 // number of writes, syncs and rotations that failed
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
