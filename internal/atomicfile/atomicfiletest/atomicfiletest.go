// Package atomicfiletest has disks that fail: one of the system whose operations fail one
// after the other, and one in memory that fails at random and loses its power.
package atomicfiletest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tarebench/tare/internal/atomicfile"
)

// Fault is a way to fail.
type Fault struct {
	Name  string
	Crash bool // nothing works from then on

	err   error
	short bool // a write leaves half of its bytes
	power bool // what was not synced is lost
	hole  bool // of that the first half is zero, and nothing is lost
	keeps bool // of a name that was not synced the new one is found, not the old one
}

func allFaults() []Fault {
	off := errors.New("power loss")
	return []Fault{
		{Name: "EIO", err: syscall.EIO},
		{Name: "ENOSPC", err: syscall.ENOSPC, short: true},
		{Name: "EROFS", err: syscall.EROFS},
		{Name: "EINTR", err: syscall.EINTR},
		{Name: "killed", err: errors.New("killed"), short: true, Crash: true},
		{Name: "power loss", err: off, Crash: true, power: true},
		{Name: "power loss, and a hole", err: off, Crash: true, power: true, hole: true, keeps: true},
		{Name: "power loss behind the names", err: off, Crash: true, power: true, keeps: true},
	}
}

// disk is a directory of the system in which the n-th operation fails.
type disk struct {
	atomicfile.System
	fault   Fault
	at      int // which operation fails, from 1; 0: none
	count   int
	down    bool
	synced  map[string]int64 // bytes of each file that are on stable storage
	renamed []renaming       // that are not
}

type renaming struct {
	to      string
	before  []byte
	existed bool
}

func (d *disk) beginOp() error {
	if d.down {
		return d.fault.err
	}
	if d.count++; d.count != d.at {
		return nil
	}
	d.down = d.fault.Crash
	return d.fault.err
}

func (d *disk) OpenFile(path string, flag int) (atomicfile.Handle, error) {
	if err := d.beginOp(); err != nil {
		return nil, err
	}
	info, errStat := os.Stat(path)
	h, err := d.System.OpenFile(path, flag)
	if err != nil {
		return nil, err
	}
	switch _, known := d.synced[path]; {
	case errStat != nil:
		d.synced[path] = 0
		d.renamed = append(d.renamed, renaming{to: path})
	case !known:
		d.synced[path] = info.Size()
	}
	return &handle{Handle: h, disk: d}, nil
}

func (d *disk) CreateTemp(dir, pattern string) (atomicfile.Handle, error) {
	if err := d.beginOp(); err != nil {
		return nil, err
	}
	h, err := d.System.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	d.synced[h.Name()] = 0
	return &handle{Handle: h, disk: d}, nil
}

func (d *disk) Rename(from, to string) error {
	if err := d.beginOp(); err != nil {
		return err
	}
	before, err := os.ReadFile(to)
	if err := d.System.Rename(from, to); err != nil {
		return err
	}
	d.renamed = append(d.renamed, renaming{to, before, err == nil})
	d.synced[to] = d.synced[from]
	delete(d.synced, from)
	return nil
}

func (d *disk) Link(from, to string) error {
	if err := d.beginOp(); err != nil {
		return err
	}
	if err := d.System.Link(from, to); err != nil {
		return err
	}
	d.renamed = append(d.renamed, renaming{to: to})
	d.synced[to] = d.synced[from]
	return nil
}

func (d *disk) Remove(path string) error {
	if err := d.beginOp(); err != nil {
		return err
	}
	delete(d.synced, path)
	return d.System.Remove(path)
}

func (d *disk) SyncDir(dir string) error {
	if err := d.beginOp(); err != nil {
		return err
	}
	d.renamed = nil
	return d.System.SyncDir(dir)
}

// powerLoss leaves what is on stable storage.
func (d *disk) powerLoss(t *testing.T) {
	for path, n := range d.synced {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		lost := text[min(n, int64(len(text))):]
		if d.fault.hole { // a later page was written back, an earlier one was not
			clear(lost[:len(lost)/2])
		} else {
			text = text[:len(text)-len(lost)]
		}
		if err = errors.Join(err, os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if d.fault.keeps {
		return
	}
	for _, r := range d.renamed {
		err := os.Remove(r.to)
		if r.existed {
			err = os.WriteFile(r.to, r.before, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

type handle struct {
	atomicfile.Handle
	disk *disk
}

func (h *handle) Read(p []byte) (int, error) {
	if err := h.disk.beginOp(); err != nil {
		return 0, err
	}
	return h.Handle.Read(p[:min(len(p), 300)]) // several reads a file
}

func (h *handle) Write(p []byte) (int, error) {
	if err := h.disk.beginOp(); err != nil {
		n := 0
		if h.disk.fault.short {
			n, _ = h.Handle.Write(p[:len(p)/2])
		}
		return n, err
	}
	return h.Handle.Write(p)
}

func (h *handle) Truncate(size int64) error {
	if err := h.disk.beginOp(); err != nil {
		return err
	}
	h.disk.synced[h.Name()] = min(h.disk.synced[h.Name()], size)
	return h.Handle.Truncate(size)
}

func (h *handle) Chmod(mode fs.FileMode) error {
	if err := h.disk.beginOp(); err != nil {
		return err
	}
	return h.Handle.Chmod(mode)
}

func (h *handle) Sync() error {
	if err := h.disk.beginOp(); err != nil {
		return err
	}
	size, err := h.Size()
	h.disk.synced[h.Name()] = size
	return err
}

func (h *handle) Close() error {
	err := h.disk.beginOp()
	_ = h.Handle.Close() // a test leaves no file open
	return err
}

// Sweep makes save fail at each of its operations in each way, in a separate directory. save writes
// old, or new over it, and returns the path; a torn or lost file fails the test, and so does a
// missing file that was acknowledged.
func Sweep(t *testing.T, save func(d atomicfile.Disk, dir string, fresh bool) (path string, err error)) {
	t.Helper()
	runSweep(t, save, false, true)
}

// SweepNew is Sweep for what is written where nothing is.
func SweepNew(t *testing.T, save func(d atomicfile.Disk, dir string) (path string, err error)) {
	t.Helper()
	runSweep(t, func(d atomicfile.Disk, dir string, _ bool) (string, error) { return save(d, dir) }, false)
}

func runSweep(t *testing.T, save func(d atomicfile.Disk, dir string, fresh bool) (path string, err error), overs ...bool) {
	t.Helper()
	for _, over := range overs {
		want := expectedContent(t, save)
		EachFault(t, func(d atomicfile.Disk, dir string) (left func(Fault, int)) {
			var before []byte
			if over {
				path, err := save(atomicfile.System{}, dir, false)
				if err != nil {
					t.Fatal(err)
				}
				if before, err = os.ReadFile(path); err != nil {
					t.Fatal(err)
				}
			}
			path, err := save(d, dir, true)
			return func(f Fault, at int) {
				got, errRead := os.ReadFile(path)
				switch {
				case bytes.Equal(got, want) && errRead == nil:
				case err == nil:
					t.Errorf("%s at operation %d: acknowledged, and not there: %q, %v", f.Name, at, got, errRead)
				case over && !bytes.Equal(got, before), !over && !errors.Is(errRead, fs.ErrNotExist):
					t.Errorf("%s at operation %d: torn or lost: %q, %v", f.Name, at, got, errRead)
				}
				if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); !f.Crash && len(left) > 1 {
					t.Errorf("%s at operation %d: left behind: %q", f.Name, at, left)
				}
			}
		})
	}
}

// EachFault calls use once for each of its operations on d and each way in which that can fail, in
// a separate directory. It calls the function that use returns with the fault and the number of the
// operation, once only the remains of such a fault are there.
func EachFault(t *testing.T, use func(d atomicfile.Disk, dir string) (left func(f Fault, at int))) {
	t.Helper()
	run := func(f Fault, at int) (operations int) {
		d := &disk{fault: f, at: at, synced: map[string]int64{}}
		left := use(d, t.TempDir())
		if f.power {
			d.powerLoss(t)
		}
		left(f, at)
		return d.count
	}
	operations := run(Fault{Name: "no fault"}, 0)
	if operations == 0 {
		t.Fatal("nothing is done with the disk")
	}
	for _, f := range allFaults() {
		for at := 1; at <= operations+1; at++ { // the last one is a stop after all of them
			run(f, at)
		}
	}
	t.Logf("%d faults at %d operations", len(allFaults())*(operations+1), operations)
}

// expectedContent returns what save writes in a new directory.
func expectedContent(t *testing.T, save func(atomicfile.Disk, string, bool) (string, error)) []byte {
	t.Helper()
	path, err := save(atomicfile.System{}, t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
