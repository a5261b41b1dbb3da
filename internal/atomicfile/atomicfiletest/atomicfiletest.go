// Package atomicfiletest has disks that fail, for tests of programs that write files with package
// atomicfile. [Sweep] repeats an action, and each time makes another one of its disk operations
// fail. [Disk] is a disk in memory that can lose its power.
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

// Fault is a way in which an operation fails.
type Fault struct {
	Name  string
	Crash bool // all later operations fail too

	err        error
	shortWrite bool // a write that fails stores half of its bytes
	powerLoss  bool // bytes that were not synced are lost
	hole       bool // with powerLoss: the first half of unsynced bytes becomes zero
	keepsNames bool // with powerLoss: unsynced names stay
}

func allFaults() []Fault {
	powerErr := errors.New("power loss")
	return []Fault{
		{Name: "EIO", err: syscall.EIO},
		{Name: "ENOSPC", err: syscall.ENOSPC, shortWrite: true},
		{Name: "EROFS", err: syscall.EROFS},
		{Name: "EINTR", err: syscall.EINTR},
		{Name: "killed", err: errors.New("killed"), shortWrite: true, Crash: true},
		{Name: "power loss", err: powerErr, Crash: true, powerLoss: true},
		{Name: "power loss, and a hole", err: powerErr, Crash: true, powerLoss: true, hole: true, keepsNames: true},
		{Name: "power loss behind the names", err: powerErr, Crash: true, powerLoss: true, keepsNames: true},
	}
}

// disk is the system's disk, on which one operation fails. All methods call beginOp first.
type disk struct {
	atomicfile.System
	fault   Fault
	failing int              // number of the operation that fails, from 1; 0 for none
	count   int              // operations so far
	down    bool             // a fault with Crash has happened
	synced  map[string]int64 // bytes on stable storage, by file
	renamed []renaming       // not on stable storage yet
}

type renaming struct {
	to      string
	before  []byte // content of the replaced file
	existed bool
}

// beginOp counts an operation and returns its failure.
func (d *disk) beginOp() error {
	if d.down {
		return d.fault.err
	}
	d.count++
	if d.count != d.failing {
		return nil
	}
	d.down = d.fault.Crash
	return d.fault.err
}

func (d *disk) OpenFile(path string, flag int) (atomicfile.Handle, error) {
	if err := d.beginOp(); err != nil {
		return nil, err
	}
	info, statErr := os.Stat(path)
	h, err := d.System.OpenFile(path, flag)
	if err != nil {
		return nil, err
	}
	switch _, known := d.synced[path]; {
	case statErr != nil:
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
	d.renamed = append(d.renamed, renaming{to: to, before: before, existed: err == nil})
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

// powerLoss removes what is not on stable storage.
func (d *disk) powerLoss(t *testing.T) {
	for path, n := range d.synced {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		lost := text[min(n, int64(len(text))):]
		if d.fault.hole { // the system had written a later page, but not an earlier one
			clear(lost[:len(lost)/2])
		} else {
			text = text[:len(text)-len(lost)]
		}
		if err = errors.Join(err, os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if d.fault.keepsNames {
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
	return h.Handle.Read(p[:min(len(p), 300)]) // so that a file takes several reads
}

func (h *handle) Write(p []byte) (int, error) {
	if err := h.disk.beginOp(); err != nil {
		n := 0
		if h.disk.fault.shortWrite {
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
	_ = h.Handle.Close() // so that no file stays open
	return err
}

// Sweep calls save once for each way in which each of its operations on d can fail. Each call has a
// new directory, with and without an old file. save writes old or fresh content, and returns the
// path. The test fails if the file then has neither. It also fails if save has returned nil without
// the fresh content.
func Sweep(t *testing.T, save func(d atomicfile.Disk, dir string, fresh bool) (path string, err error)) {
	t.Helper()
	runSweep(t, save, false, true) // a new file, and over an old one
}

// SweepNew is like Sweep, but only for files that do not exist before.
func SweepNew(t *testing.T, save func(d atomicfile.Disk, dir string) (path string, err error)) {
	t.Helper()
	runSweep(t, func(d atomicfile.Disk, dir string, _ bool) (string, error) { return save(d, dir) }, false)
}

// runSweep is Sweep for each value of oldFiles.
func runSweep(t *testing.T, save func(d atomicfile.Disk, dir string, fresh bool) (path string, err error), oldFiles ...bool) {
	t.Helper()
	for _, hasOld := range oldFiles {
		want := expectedContent(t, save)
		EachFault(t, func(d atomicfile.Disk, dir string) (inspect func(Fault, int)) {
			var before []byte
			if hasOld {
				path, err := save(atomicfile.System{}, dir, false)
				if err != nil {
					t.Fatal(err)
				}
				if before, err = os.ReadFile(path); err != nil {
					t.Fatal(err)
				}
			}
			path, err := save(d, dir, true)
			return func(f Fault, operation int) {
				got, readErr := os.ReadFile(path)
				switch {
				case bytes.Equal(got, want) && readErr == nil:
					// The fresh content may be there even if save failed.
				case err == nil:
					t.Errorf("%s at operation %d: acknowledged, and not there: %q, %v", f.Name, operation, got, readErr)
				case hasOld && !bytes.Equal(got, before), !hasOld && !errors.Is(readErr, fs.ErrNotExist):
					t.Errorf("%s at operation %d: torn or lost: %q, %v", f.Name, operation, got, readErr)
				}
				if hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); !f.Crash && len(hidden) > 1 {
					t.Errorf("%s at operation %d: not removed: %q", f.Name, operation, hidden)
				}
			}
		})
	}
}

// EachFault calls use once for each way in which each of its operations on d can fail. Each call
// has a new directory. It then applies the losses of the fault, and calls the returned function.
func EachFault(t *testing.T, use func(d atomicfile.Disk, dir string) (inspect func(f Fault, operation int))) {
	t.Helper()
	run := func(f Fault, operation int) (operations int) {
		d := &disk{fault: f, failing: operation, synced: map[string]int64{}}
		inspect := use(d, t.TempDir())
		if f.powerLoss {
			d.powerLoss(t)
		}
		inspect(f, operation)
		return d.count
	}
	operations := run(Fault{Name: "no fault"}, 0)
	if operations == 0 {
		t.Fatal("nothing is done with the disk")
	}
	for _, f := range allFaults() {
		for operation := 1; operation <= operations+1; operation++ { // at the last one, the fault comes after all operations
			run(f, operation)
		}
	}
	t.Logf("%d faults at %d operations", len(allFaults())*(operations+1), operations)
}

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
