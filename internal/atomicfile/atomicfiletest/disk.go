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

// sector is the number of bytes that a Disk writes or loses as one. It is small, so that most
// batches are on several.
const sector = 64

var (
	errDead = errors.New("the machine is off")

	// ErrIO is the error of failing operations.
	ErrIO = errors.New("input/output error")
)

// Disk is a file system that separates synced from unsynced data, and fails as configured. Names
// survive a power cut in the order in which they were changed, as in a journal; bytes in any order.
type Disk struct {
	atomicfile.Disk // nil: the operations that are not below are not called

	Mu     sync.Mutex // of everything below
	Left   int        // operations until the machine goes off; less than 0: never
	Fails  float64    // how probable it is that an operation fails
	Room   int64      // bytes until the disk is full; less than 0: endless
	Failed int        // operations that have failed so
	OnSync func()     // called, without the lock, before each Sync; nil: is not

	rng    *rand.Rand
	dead   bool // it is off
	locked map[string]bool

	names  map[string]*inode
	stable map[string]*inode   // names that are on stable storage
	log    []map[string]*inode // names after each change since
}

type inode struct {
	data  []byte
	dirty map[int]bool   // sectors that were written since the last sync
	disk  map[int][]byte // sectors on stable storage
	size  int64          // on stable storage
	sizes []int64        // that there were since
}

// NewDisk returns an empty disk whose failures follow from seed.
func NewDisk(seed uint64) *Disk {
	return &Disk{
		rng: rand.New(rand.NewPCG(seed, 0)), Left: -1, Room: -1, locked: map[string]bool{},
		names: map[string]*inode{}, stable: map[string]*inode{},
	}
}

// beginOp begins an operation: it returns an error if this fails, and last if the machine stops in
// the middle of it.
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

// OpenFile opens a file. Write appends.
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

// Lock locks a path for as long as the machine is on.
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

// Off returns the disk after a restart: after a power cut, or after only the process was killed.
func (d *Disk) Off(seed uint64, powerCut bool) *Disk {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	d.dead = true
	next := NewDisk(seed)
	found := map[*inode]*inode{}
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
	// The system has everything in memory still, and knows what it has to write.
	next.names, next.stable = move(d.names), move(d.stable)
	for _, names := range d.log {
		next.log = append(next.log, move(names))
	}
	return next
}

func (n *inode) afterRestart(rng *rand.Rand, powerCut bool) *inode {
	if !powerCut {
		return &inode{slices.Clone(n.data), maps.Clone(n.dirty), maps.Clone(n.disk), n.size, slices.Clone(n.sizes)}
	}
	out := &inode{data: n.survivingData(rng), dirty: map[int]bool{}, disk: map[int][]byte{}}
	out.size = int64(len(out.data))
	for at := 0; at*sector < len(out.data); at++ {
		out.disk[at] = out.sectorAt(at)
	}
	return out
}

// survivingData returns the remaining content of a file whose unsynced sectors are each written or
// not.
func (n *inode) survivingData(rng *rand.Rand) []byte {
	sizes := append([]int64{n.size}, n.sizes...)
	size := sizes[rng.IntN(len(sizes))]
	if low := n.size; size > low && rng.IntN(2) == 0 {
		size = low + rng.Int64N(size-low+1)
	}
	out := make([]byte, size)
	for at := range (int(size) + sector - 1) / sector {
		from := n.disk[at]
		if n.dirty[at] && rng.IntN(2) == 0 {
			from = n.sectorAt(at)
		}
		copy(out[at*sector:], from)
	}
	return out
}

func (n *inode) sectorAt(at int) []byte {
	return slices.Clone(n.data[min(at*sector, len(n.data)):min((at+1)*sector, len(n.data))])
}

// syncSectors writes dirty sectors to stable storage, those for which written returns true. It
// returns the others, and no sector is dirty any more.
func (n *inode) syncSectors(written func() bool) (left map[int]bool) {
	left = map[int]bool{}
	for _, at := range slices.Sorted(maps.Keys(n.dirty)) {
		if written() {
			n.disk[at] = n.sectorAt(at)
		} else {
			left[at] = true
		}
	}
	clear(n.dirty)
	return left
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

// Change changes what a file holds, as a fault of the medium does.
func (d *Disk) Change(path string, change func([]byte) []byte) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	n := d.names[path]
	n.data = change(slices.Clone(n.data))
	f := file{d: d, n: n}
	f.setContent(n.data, 0)
}
