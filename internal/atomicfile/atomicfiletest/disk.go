package atomicfiletest

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tarebench/tare/internal/atomicfile"
)

// sector is the number of bytes that a Disk loses together. It is small for the short writes of
// tests.
const sector = 64

var (
	errDead = errors.New("the machine is off")

	// ErrIO is the error of failing operations.
	ErrIO = errors.New("input/output error")
)

// Disk is a file system in memory that can fail and lose its power. In a power cut it loses
// unsynced sectors in any combination. It loses all changes of names from some unsynced change on,
// like a file system with a journal.
type Disk struct {
	atomicfile.Disk // nil: other operations panic

	Mu     sync.Mutex // guards the fields below
	Left   int        // operations until the machine goes off; if negative, it does not
	Fails  float64    // probability that an operation fails
	Room   int64      // free bytes; if negative, unlimited
	Failed int        // failures because of Fails
	OnSync func()     // called before each Sync, without the lock; may be nil

	rng    *rand.Rand
	dead   bool            // the machine is off
	locked map[string]bool // paths with a lock

	names  map[string]*inode   // files by path
	stable map[string]*inode   // the same on stable storage
	log    []map[string]*inode // the same after each change since stable
}

// inode is a file without its name.
type inode struct {
	data  []byte         // current content
	dirty map[int]bool   // unsynced sectors, by number
	disk  map[int][]byte // sectors on stable storage, by number
	size  int64
	sizes []int64 // size after each unsynced write
}

// NewDisk returns an empty disk whose failures follow from seed.
func NewDisk(seed uint64) *Disk {
	return &Disk{
		rng: rand.New(rand.NewPCG(seed, 0)), Left: -1, Room: -1, locked: map[string]bool{},
		names: map[string]*inode{}, stable: map[string]*inode{},
	}
}

// beginOp begins an operation. last means that the machine goes off in the middle of it.
func (d *Disk) beginOp() (last bool, err error) {
	if d.dead {
		return false, errDead
	}
	if d.Left == 0 {
		d.dead = true
		return true, nil
	}
	d.Left--
	if d.rng.Float64() < d.Fails {
		d.Failed++
		return false, ErrIO
	}
	return false, nil
}

// OpenFile opens a file. Write always appends.
func (d *Disk) OpenFile(path string, flag int) (atomicfile.Handle, error) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	if _, err := d.beginOp(); err != nil {
		return nil, err
	}
	n := d.names[path]
	if n == nil && flag&os.O_CREATE == 0 {
		return nil, fs.ErrNotExist
	}
	if n == nil {
		n = &inode{dirty: map[int]bool{}, disk: map[int][]byte{}}
		d.updateNames(func(names map[string]*inode) { names[path] = n })
	}
	return &file{d: d, n: n}, nil
}

func (d *Disk) updateNames(change func(map[string]*inode)) {
	d.names = maps.Clone(d.names)
	change(d.names)
	d.log = append(d.log, d.names)
}

// RenameNew renames a file.
func (d *Disk) RenameNew(from, to string) error {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	if _, err := d.beginOp(); err != nil {
		return err
	}
	switch {
	case d.names[from] == nil:
		return fs.ErrNotExist
	case d.names[to] != nil:
		return fs.ErrExist
	}
	d.updateNames(func(names map[string]*inode) { names[to] = names[from]; delete(names, from) })
	return nil
}

// Remove removes a file.
func (d *Disk) Remove(path string) error {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	if _, err := d.beginOp(); err != nil {
		return err
	}
	if d.names[path] == nil {
		return fs.ErrNotExist
	}
	d.updateNames(func(names map[string]*inode) { delete(names, path) })
	return nil
}

// List lists a directory, sorted.
func (d *Disk) List(dir string) ([]string, error) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	if last, err := d.beginOp(); err != nil || last {
		return nil, cmp.Or(err, errDead)
	}
	var out []string
	for path := range d.names {
		if filepath.Dir(path) == dir {
			out = append(out, filepath.Base(path))
		}
	}
	slices.Sort(out)
	return out, nil
}

// SyncDir brings all names to stable storage.
func (d *Disk) SyncDir(string) error {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	if last, err := d.beginOp(); err != nil || last {
		return errors.Join(err, errDead)
	}
	d.stable, d.log = d.names, nil
	return nil
}

// Lock locks a path. Off forgets it.
func (d *Disk) Lock(path string) (io.Closer, error) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	if d.locked[path] {
		return nil, errors.New("locked")
	}
	d.locked[path] = true
	return unlock(func() error { delete(d.locked, path); return nil }), nil
}

type unlock func() error

func (u unlock) Close() error { return u() }

// Off turns the machine off and returns the disk after a restart. Without a powerCut the system
// still has all data. seed determines what a power cut loses.
func (d *Disk) Off(seed uint64, powerCut bool) *Disk {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	d.dead = true
	next := NewDisk(seed)
	found := map[*inode]*inode{} // a file may have several names
	move := func(names map[string]*inode) map[string]*inode {
		out := map[string]*inode{}
		for path, n := range names {
			if found[n] == nil {
				found[n] = n.afterRestart(next.rng, powerCut)
			}
			out[path] = found[n]
		}
		return out
	}
	if powerCut {
		states := append([]map[string]*inode{d.stable}, d.log...)
		next.names = move(states[next.rng.IntN(len(states))])
		next.stable = next.names
		return next
	}
	next.names, next.stable = move(d.names), move(d.stable)
	for _, names := range d.log {
		next.log = append(next.log, move(names))
	}
	return next
}

func (n *inode) afterRestart(rng *rand.Rand, powerCut bool) *inode {
	if !powerCut {
		return &inode{data: slices.Clone(n.data), dirty: maps.Clone(n.dirty), disk: maps.Clone(n.disk), size: n.size, sizes: slices.Clone(n.sizes)}
	}
	out := &inode{data: n.survivingData(rng), dirty: map[int]bool{}, disk: map[int][]byte{}}
	out.size = int64(len(out.data))
	for i := 0; i*sector < len(out.data); i++ {
		out.disk[i] = out.sectorAt(i)
	}
	return out
}

// survivingData returns the content after a power cut. Each unsynced sector is either written or
// not. The size is one since the last sync, or between two.
func (n *inode) survivingData(rng *rand.Rand) []byte {
	sizes := append([]int64{n.size}, n.sizes...)
	size := sizes[rng.IntN(len(sizes))]
	if low := n.size; size > low && rng.IntN(2) == 0 {
		size = low + rng.Int64N(size-low+1)
	}
	out := make([]byte, size)
	for i := range (int(size) + sector - 1) / sector {
		content := n.disk[i]
		if n.dirty[i] && rng.IntN(2) == 0 {
			content = n.sectorAt(i)
		}
		copy(out[i*sector:], content)
	}
	return out
}

// sectorAt returns sector i of the current content.
func (n *inode) sectorAt(i int) []byte {
	return slices.Clone(n.data[min(i*sector, len(n.data)):min((i+1)*sector, len(n.data))])
}

// syncSectors writes the dirty sectors for which isWritten returns true, and returns the others.
func (n *inode) syncSectors(isWritten func() bool) (lost map[int]bool) {
	lost = map[int]bool{}
	for _, i := range slices.Sorted(maps.Keys(n.dirty)) {
		if isWritten() {
			n.disk[i] = n.sectorAt(i)
		} else {
			lost[i] = true
		}
	}
	clear(n.dirty)
	return lost
}

// Content returns the content of files, by path.
func (d *Disk) Content() map[string]string {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	out := map[string]string{}
	for path, n := range d.names {
		out[path] = string(n.data)
	}
	return out
}

// Change damages the content of a file, as a medium may.
func (d *Disk) Change(path string, change func([]byte) []byte) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	n := d.names[path]
	n.data = change(slices.Clone(n.data))
	f := file{d: d, n: n}
	f.setContent(n.data, 0)
}
