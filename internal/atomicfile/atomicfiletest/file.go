package atomicfiletest

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"syscall"

	"github.com/tarebench/tare/internal/atomicfile"
)

// file is an open file of a [Disk].
type file struct {
	atomicfile.Handle // nil: other operations panic

	d *Disk
	n *inode
}

func (f *file) Close() error { return nil }

func (f *file) Size() (int64, error) {
	f.d.Mu.Lock()
	defer f.d.Mu.Unlock()
	_, err := f.d.beginOp()
	return int64(len(f.n.data)), err
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.d.Mu.Lock()
	defer f.d.Mu.Unlock()
	if last, err := f.d.beginOp(); err != nil || last {
		return 0, cmp.Or(err, errDead)
	}
	n := copy(p, f.n.data[min(off, int64(len(f.n.data))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Write appends p, or only its beginning if the operation fails or the disk is full.
func (f *file) Write(p []byte) (int, error) {
	f.d.Mu.Lock()
	defer f.d.Mu.Unlock()
	last, err := f.d.beginOp()
	if errors.Is(err, errDead) {
		return 0, err
	}
	if f.d.Room >= 0 && int64(len(p)) > f.d.Room {
		p, err = p[:f.d.Room], syscall.ENOSPC
	} else if last || err != nil {
		p = p[:f.d.rng.IntN(len(p)+1)]
	}
	if f.d.Room >= 0 {
		f.d.Room -= int64(len(p))
	}
	f.setContent(append(f.n.data, p...), len(f.n.data))
	if last {
		err = errDead
	}
	return len(p), err
}

// WriteAt writes p, or only its beginning if the operation fails.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	f.d.Mu.Lock()
	defer f.d.Mu.Unlock()
	last, err := f.d.beginOp()
	if errors.Is(err, errDead) {
		return 0, err
	}
	if last || err != nil {
		p = p[:f.d.rng.IntN(len(p)+1)]
	}
	size := max(len(f.n.data), int(off)+len(p))
	data := append(slices.Clone(f.n.data), make([]byte, size-len(f.n.data))...)
	copy(data[off:], p)
	f.n.data = data
	for i := int(off) / sector; i*sector < int(off)+len(p); i++ {
		f.n.dirty[i] = true
	}
	f.n.sizes = append(f.n.sizes, int64(size))
	if last {
		err = errDead
	}
	return len(p), err
}

// setContent sets the content. Only the bytes before offset from are unchanged.
func (f *file) setContent(data []byte, from int) {
	f.n.data = data
	for i := range f.n.dirty {
		if i*sector >= len(data) {
			delete(f.n.dirty, i)
		}
	}
	for i := from / sector; i*sector < len(data); i++ {
		f.n.dirty[i] = true
	}
	f.n.sizes = append(f.n.sizes, int64(len(data)))
}

func (f *file) Truncate(size int64) error {
	f.d.Mu.Lock()
	defer f.d.Mu.Unlock()
	if _, err := f.d.beginOp(); err != nil {
		return err
	}
	if f.d.Room >= 0 {
		f.d.Room += int64(len(f.n.data)) - size
	}
	f.setContent(append(slices.Clone(f.n.data), make([]byte, max(0, int(size)-len(f.n.data)))...)[:size], int(size))
	return nil
}

// Sync brings the content to stable storage. If it fails, it loses some dirty sectors. As on Linux,
// a later Sync does not write them again.
func (f *file) Sync() error {
	if f.d.OnSync != nil {
		f.d.OnSync()
	}
	f.d.Mu.Lock()
	defer f.d.Mu.Unlock()
	last, err := f.d.beginOp()
	if errors.Is(err, errDead) {
		return err
	}
	coin := func() bool { return f.d.rng.IntN(2) == 0 }
	switch {
	case last:
		for i := range f.n.syncSectors(coin) {
			f.n.dirty[i] = true // Sync has not returned an error to a caller
		}
		return errDead
	case err != nil:
		f.n.syncSectors(coin)
		return err
	}
	f.n.syncSectors(func() bool { return true })
	for i, b := range f.n.disk {
		if i*sector >= len(f.n.data) {
			delete(f.n.disk, i)
		} else {
			f.n.disk[i] = b[:min(len(b), len(f.n.data)-i*sector)]
		}
	}
	f.n.size, f.n.sizes = int64(len(f.n.data)), nil
	return nil
}
