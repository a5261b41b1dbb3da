// Package wholetest has every operation on a disk fail, one after the other.
package wholetest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tarebench/tare/internal/whole"
)

// fault is a way to fail.
type fault struct {
	name  string
	err   error
	short bool // a write leaves half of its bytes
	crash bool // nothing works from then on
	power bool // and what was not synced is lost
	keeps bool // of a name that was not synced the new one is found, not the old one
}

var faults = []fault{
	{name: "EIO", err: syscall.EIO},
	{name: "ENOSPC", err: syscall.ENOSPC, short: true},
	{name: "EROFS", err: syscall.EROFS},
	{name: "EINTR", err: syscall.EINTR},
	{name: "killed", err: errors.New("killed"), short: true, crash: true},
	{name: "power loss", err: errors.New("power loss"), crash: true, power: true},
	{name: "power loss behind the names", err: errors.New("power loss"), crash: true, power: true, keeps: true},
}

// disk is a directory of the system in which the n-th operation fails.
type disk struct {
	whole.System
	fault   fault
	at      int // which operation fails, from 1; 0: none
	count   int
	down    bool
	synced  map[string]int // bytes of each file that are on stable storage
	renamed []renaming     // that are not
}

type renaming struct {
	to      string
	before  []byte
	existed bool
}

func (d *disk) step() error {
	if d.down {
		return d.fault.err
	}
	if d.count++; d.count != d.at {
		return nil
	}
	d.down = d.fault.crash
	return d.fault.err
}

func (d *disk) CreateTemp(dir, pattern string) (whole.Handle, error) {
	if err := d.step(); err != nil {
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
	if err := d.step(); err != nil {
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
	if err := d.step(); err != nil {
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
	if err := d.step(); err != nil {
		return err
	}
	delete(d.synced, path)
	return d.System.Remove(path)
}

func (d *disk) SyncDir(dir string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.renamed = nil
	return d.System.SyncDir(dir)
}

// powerLoss leaves what is on stable storage.
func (d *disk) powerLoss(t *testing.T) {
	for path, n := range d.synced {
		if err := os.Truncate(path, int64(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	whole.Handle
	disk *disk
	size int
}

func (h *handle) Write(p []byte) (int, error) {
	if err := h.disk.step(); err != nil {
		n := 0
		if h.disk.fault.short {
			n, _ = h.Handle.Write(p[:len(p)/2])
		}
		h.size += n
		return n, err
	}
	n, err := h.Handle.Write(p)
	h.size += n
	return n, err
}

func (h *handle) Chmod(mode fs.FileMode) error {
	if err := h.disk.step(); err != nil {
		return err
	}
	return h.Handle.Chmod(mode)
}

func (h *handle) Sync() error {
	if err := h.disk.step(); err != nil {
		return err
	}
	h.disk.synced[h.Name()] = h.size
	return nil
}

func (h *handle) Close() error {
	err := h.disk.step()
	_ = h.Handle.Close() // a test leaves no file open
	return err
}

// Sweep has save fail at each of its operations in each way, in a directory of its
// own. save writes old, or new over it, and says where; a file that is torn or lost
// fails the test, and so does one that was acknowledged and is not there.
func Sweep(t *testing.T, save func(d whole.Disk, dir string, fresh bool) (path string, err error)) {
	t.Helper()
	sweep(t, save, false, true)
}

// SweepNew is Sweep for what is written where nothing is.
func SweepNew(t *testing.T, save func(d whole.Disk, dir string) (path string, err error)) {
	t.Helper()
	sweep(t, func(d whole.Disk, dir string, _ bool) (string, error) { return save(d, dir) }, false)
}

func sweep(t *testing.T, save func(d whole.Disk, dir string, fresh bool) (path string, err error), overs ...bool) {
	t.Helper()
	run := func(f fault, at int, over bool) (operations int) {
		dir := t.TempDir()
		var before []byte
		if over {
			path, err := save(whole.System{}, dir, false)
			if err != nil {
				t.Fatal(err)
			}
			if before, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		want := wanted(t, save)
		d := &disk{fault: f, at: at, synced: map[string]int{}}
		path, err := save(d, dir, true)
		if f.power {
			d.powerLoss(t)
		}
		got, errRead := os.ReadFile(path)
		switch {
		case bytes.Equal(got, want) && errRead == nil:
		case err == nil:
			t.Errorf("%s at operation %d: acknowledged, and not there: %q, %v", f.name, at, got, errRead)
		case over && !bytes.Equal(got, before), !over && !errors.Is(errRead, fs.ErrNotExist):
			t.Errorf("%s at operation %d: torn or lost: %q, %v", f.name, at, got, errRead)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); !f.crash && len(left) > 1 {
			t.Errorf("%s at operation %d: left behind: %q", f.name, at, left)
		}
		return d.count
	}
	injected := 0
	for _, over := range overs {
		operations := run(fault{}, 0, over)
		if operations == 0 {
			t.Fatal("nothing is done with the disk")
		}
		t.Logf("over an old document %v: %d operations, each failing in %d ways", over, operations, len(faults))
		for _, f := range faults {
			for at := 1; at <= operations+1; at++ { // the last one is a stop behind all of them
				run(f, at, over)
				injected++
			}
		}
	}
	t.Logf("%d faults injected", injected)
}

// wanted is what save writes anew.
func wanted(t *testing.T, save func(whole.Disk, string, bool) (string, error)) []byte {
	t.Helper()
	path, err := save(whole.System{}, t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
