package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Options say how a File keeps lines. The zero value works.
type Options struct {
	Fsync  bool             // kept means on stable storage; else it means written, which survives the end of the process but not a power cut
	Rotate int64            // bytes that a file has at most, unless one batch is longer; zero: there is one file
	Now    func() time.Time // its time is part of the names of files that are put away; nil: it is not

	files files // nil: the operating system's
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
	turn  chan struct{} // full while somebody uses store
	store *store
	lock  io.Closer // nil: closed

	mu     sync.Mutex
	closed bool
	next   *group // what the next turn will write; nil: nothing waits
}

var _ Sink = (*File)(nil)

// group is batches that are written in one turn.
type group struct {
	batches []*batch
	done    chan struct{} // closed when all of them have their result
}

// batch belongs to its caller, then to whoever has the turn, and when the group
// is done to its caller again.
type batch struct {
	lines []byte
	err   error
}

// Open opens the file at path, in a directory that exists, and begins it where
// there is none. Cut is how many bytes at its end were no whole line, as a
// process leaves them that was killed in the middle of a write.
func Open(path string, o Options) (f *File, cut int64, err error) {
	if o.files == nil {
		o.files = disk{}
	}
	lock, err := o.files.lock(path + ".lock")
	if err != nil {
		return nil, 0, err
	}
	f = &File{turn: make(chan struct{}, 1), store: newStore(path, o), lock: lock}
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
		return fmt.Errorf("a batch of %d bytes, more than %d", len(lines), MaxBatch)
	case lines[len(lines)-1] != '\n' || bytes.IndexByte(lines, 0) >= 0:
		return errors.New("a batch without a line end at its end, or with a zero byte in it")
	}
	g, b, err := f.join(lines)
	if err != nil {
		return err
	}
	select {
	case f.turn <- struct{}{}:
		f.commit(g)
		<-f.turn
	case <-g.done:
	case <-ctx.Done():
		if f.leave(g, b) {
			return ctx.Err()
		}
		<-g.done // somebody is writing it
	}
	return b.err
}

// join adds a batch to the group that waits.
func (f *File) join(lines []byte) (*group, *batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil, ErrClosed
	}
	if f.next == nil {
		f.next = &group{done: make(chan struct{})}
	}
	b := &batch{lines: lines}
	f.next.batches = append(f.next.batches, b)
	return f.next, b, nil
}

// leave takes a batch out of a group that still waits, or says false.
func (f *File) leave(g *group, b *batch) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next != g {
		return false
	}
	for i := range g.batches {
		if g.batches[i] == b {
			g.batches = append(g.batches[:i], g.batches[i+1:]...)
			return true
		}
	}
	return false
}

// commit writes g, unless that was done in an earlier turn. The caller has the
// turn.
func (f *File) commit(g *group) {
	f.mu.Lock()
	if f.next != g {
		f.mu.Unlock()
		return
	}
	f.next = nil
	f.mu.Unlock()
	f.store.keep(g.batches)
	close(g.done)
}

// Close writes what waits, and closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	f.closed = true
	g := f.next
	f.mu.Unlock()

	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	if g != nil {
		f.commit(g)
	}
	if f.lock == nil {
		return nil
	}
	err := errors.Join(f.store.close(), f.lock.Close())
	f.lock = nil
	return err
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
