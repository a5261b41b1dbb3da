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
	Fsync  bool             // stored means on stable storage; else it means written, which survives the end of the process but not a power cut
	Rotate int64            // largest size of a file in bytes, unless one batch is longer; 0 if there is one file
	Now    func() time.Time // its time is part of the names of rotated files; nil if it is not

	files atomicfile.Disk // nil means the operating system's
}

// MaxBatch bounds the bytes of one Keep of a [File].
const MaxBatch = 64 << 20

// maxWrite is the size in bytes up to which batches are joined.
const maxWrite = 4 << 20

// File stores lines in a file, one after the other.
//
// Batches that arrive while others are being written wait, and are then written together, and
// synced together: the more callers, the fewer writes.
//
// When the file would become longer than Options.Rotate it is renamed to PATH.1, the next one to
// PATH.2 and so on, or with a clock to PATH.20060102T150405Z.1; the time is UTC. A number is used
// once, and no file is ever overwritten. If a file cannot be renamed, writing to it continues.
//
// A write that fails or comes up short, as on a full disk, is undone: the batches that were written
// together fail, and nothing of them stays. After a failed sync the content of the disk is unknown,
// so the file is renamed, truncated to its synced part, and another one begun. As long as it could
// not be truncated, its name ends in .torn@ and the number of valid bytes; the next Open tries
// again.
//
// If the process is killed, or with Fsync the power cut, each line that was acknowledged exists
// once. Others exist once or not at all. [Open] removes an incomplete line.
//
// PATH.lock locks out a second process if the system has such locks. It is empty and stays. No
// other program may write to the file, shorten or rename it; it may be read at any time, up to the
// last line end.
type File struct {
	queue *commit.Queue
	store *store
	lock  io.Closer // nil if closed
}

var _ Sink = (*File)(nil)

// Open opens the file at path, in a directory that exists, and makes it if it does not exist. Cut
// is the length of an incomplete line at its end, as left by a process that was killed in the
// middle of a write.
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

// Keep implements [Sink]. Lines have [MaxBatch] bytes at most.
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

// Close writes the waiting batches, and closes the file.
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
	Writes    int64 // of one batch or more
	Syncs     int64
	Rotations int64
	Failures  int64 // writes, syncs and rotations that failed
}

// Stats returns the counters.
func (f *File) Stats() Stats {
	s := f.store
	return Stats{s.writes.Load(), s.syncs.Load(), s.rotations.Load(), s.failures.Load()}
}
