package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tarebench/tare/apps/ingest/commit"
	"github.com/tarebench/tare/internal/whole"
)

// Options say how a File keeps lines. The zero value works.
type Options struct {
	Fsync  bool             // kept means on stable storage; else it means written, which survives the end of the process but not a power cut
	Rotate int64            // bytes that a file has at most, unless one batch is longer; zero: there is one file
	Now    func() time.Time // its time is part of the names of files that are put away; nil: it is not

	files whole.Disk // nil: the operating system's
}

// MaxBatch is how many bytes Keep of a [File] takes at once.
const MaxBatch = 64 << 20

// maxWrite is how many bytes batches are put together for.
const maxWrite = 4 << 20

// File keeps lines in a file, one after the other.
//
// Batches that arrive while others are being written wait, and are then written
// together, and synced together: the more callers, the fewer writes.
//
// When the file would become longer than Options.Rotate it is put away as
// PATH.1, the next one as PATH.2 and so on, or with a clock as
// PATH.20060102T150405Z.1; the time is UTC. A number is used once, and no file
// is ever written over. A file that cannot be renamed is written on.
//
// A write that fails or comes up short, as on a full disk, is undone: the
// batches that were written together fail, and nothing of them stays. After a
// failed sync nobody can say what is on the disk, so the file is put away, cut
// back to what was synced before, and another one begun. For as long as it
// could not be cut back, its name ends in .torn@ and the number of bytes that
// count; the next Open tries again.
//
// If the process is killed, or with Fsync the power cut, each line that was
// acknowledged is there once. Others are there once or not at all. [Open] cuts
// off what is no whole line.
//
// PATH.lock keeps a second process away where the system has such locks. It is
// empty and stays. Nobody else may write to the file, shorten or rename it; it
// may be read at any time, up to the last line end.
type File struct {
	queue *commit.Queue
	store *store
	lock  io.Closer // nil: closed
}

var _ Sink = (*File)(nil)

// Open opens the file at path, in a directory that exists, and begins it where
// there is none. Cut is how many bytes at its end were no whole line, as a
// process leaves them that was killed in the middle of a write.
func Open(path string, o Options) (f *File, cut int64, err error) {
	if o.files == nil {
		o.files = whole.System{}
	}
	lock, err := o.files.Lock(path + ".lock")
	if err != nil {
		return nil, 0, err
	}
	f = &File{store: newStore(path, o), lock: lock}
	f.queue = commit.New(f.store.keep)
	if cut, err = f.store.open(); err != nil {
		return nil, 0, errors.Join(err, f.store.close(), lock.Close())
	}
	return f, cut, nil
}

// Keep is that of [Sink]. Lines have [MaxBatch] bytes at most.
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

// Close writes what waits, and closes the file.
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

// Stats are what a File has done since it was opened.
type Stats struct {
	Writes    int64 // of one batch or more
	Syncs     int64
	Rotations int64
	Failures  int64 // writes, syncs and rotations that failed
}

// Stats counts what was done so far.
func (f *File) Stats() Stats {
	s := f.store
	return Stats{s.writes.Load(), s.syncs.Load(), s.rotations.Load(), s.failures.Load()}
}
