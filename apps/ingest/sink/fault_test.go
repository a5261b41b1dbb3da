package sink

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// sector is how much a fakeDisk writes or loses at once. It is small, so that
// most batches lie on several.
const sector = 64

var (
	errDead = errors.New("the machine is off")
	errIO   = errors.New("input/output error")
)

// fakeDisk is a file system that keeps what is synced apart from what is not,
// and fails as it is told to. Names survive a power cut in the order in which
// they were changed, as a journal keeps them; bytes in any order.
type fakeDisk struct {
	mu     sync.Mutex
	rng    *rand.Rand
	left   int     // operations until the machine goes off; less than 0: never
	dead   bool    // it is off
	fails  float64 // how probable it is that an operation fails
	room   int64   // bytes until the disk is full; less than 0: endless
	locked map[string]bool

	names  map[string]*inode
	stable map[string]*inode   // names that are on stable storage
	log    []map[string]*inode // names after each change since
	sync   func()              // called, without the lock, before each Sync; nil: is not
	syncs  int
	writes int
}

type inode struct {
	data  []byte
	dirty map[int]bool   // sectors that were written since the last sync
	disk  map[int][]byte // sectors on stable storage
	size  int64          // on stable storage
	sizes []int64        // that there were since
}

func newFakeDisk(seed uint64) *fakeDisk {
	return &fakeDisk{
		rng: rand.New(rand.NewPCG(seed, 0)), left: -1, room: -1, locked: map[string]bool{},
		names: map[string]*inode{}, stable: map[string]*inode{},
	}
}

// step begins an operation: it says whether this fails, and whether the machine
// goes off in the middle of it.
func (d *fakeDisk) step() (last bool, err error) {
	if d.dead {
		return false, errDead
	}
	if d.left == 0 {
		d.dead = true
		return true, nil
	}
	d.left--
	if d.rng.Float64() < d.fails {
		return false, errIO
	}
	return false, nil
}

func (d *fakeDisk) open(path string) (handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step(); err != nil {
		return nil, err
	}
	n := d.names[path]
	if n == nil {
		n = &inode{dirty: map[int]bool{}, disk: map[int][]byte{}}
		d.rewrite(func(names map[string]*inode) { names[path] = n })
	}
	return &fakeFile{d, n}, nil
}

func (d *fakeDisk) rewrite(change func(map[string]*inode)) {
	d.names = maps.Clone(d.names)
	change(d.names)
	d.log = append(d.log, d.names)
}

func (d *fakeDisk) rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step(); err != nil {
		return err
	}
	switch {
	case d.names[from] == nil:
		return fs.ErrNotExist
	case d.names[to] != nil:
		return fs.ErrExist
	}
	d.rewrite(func(names map[string]*inode) { names[to] = names[from]; delete(names, from) })
	return nil
}

func (d *fakeDisk) remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step(); err != nil {
		return err
	}
	if d.names[path] == nil {
		return fs.ErrNotExist
	}
	d.rewrite(func(names map[string]*inode) { delete(names, path) })
	return nil
}

func (d *fakeDisk) list(dir string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for path := range d.names {
		if filepath.Dir(path) == dir {
			out = append(out, filepath.Base(path))
		}
	}
	slices.Sort(out)
	return out, nil
}

func (d *fakeDisk) syncDir(string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last, err := d.step(); err != nil || last {
		return errors.Join(err, errDead)
	}
	d.stable, d.log = d.names, nil
	return nil
}

func (d *fakeDisk) lock(path string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked[path] {
		return nil, errors.New("locked")
	}
	d.locked[path] = true
	return unlock(func() error { delete(d.locked, path); return nil }), nil
}

type unlock func() error

func (u unlock) Close() error { return u() }

// off is what the machine finds when it comes up again: after a power cut, or
// after the process alone was killed.
func (d *fakeDisk) off(seed uint64, powerCut bool) *fakeDisk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
	next := newFakeDisk(seed)
	found := map[*inode]*inode{}
	move := func(names map[string]*inode) map[string]*inode {
		out := map[string]*inode{}
		for path, n := range names {
			if found[n] == nil {
				found[n] = n.next(next.rng, powerCut)
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

func (n *inode) next(rng *rand.Rand, powerCut bool) *inode {
	if !powerCut {
		return &inode{slices.Clone(n.data), maps.Clone(n.dirty), maps.Clone(n.disk), n.size, slices.Clone(n.sizes)}
	}
	out := &inode{data: n.survive(rng), dirty: map[int]bool{}, disk: map[int][]byte{}}
	out.size = int64(len(out.data))
	for at := 0; at*sector < len(out.data); at++ {
		out.disk[at] = out.sector(at)
	}
	return out
}

// survive is what is left of a file whose unsynced sectors are written or not,
// each for itself.
func (n *inode) survive(rng *rand.Rand) []byte {
	sizes := append([]int64{n.size}, n.sizes...)
	size := sizes[rng.IntN(len(sizes))]
	if low := n.size; size > low && rng.IntN(2) == 0 {
		size = low + rng.Int64N(size-low+1)
	}
	out := make([]byte, size)
	for at := range (int(size) + sector - 1) / sector {
		from := n.disk[at]
		if n.dirty[at] && rng.IntN(2) == 0 {
			from = n.sector(at)
		}
		copy(out[at*sector:], from)
	}
	return out
}

func (n *inode) sector(at int) []byte {
	return slices.Clone(n.data[min(at*sector, len(n.data)):min((at+1)*sector, len(n.data))])
}

// persist brings dirty sectors to stable storage, those that written says. The
// others are left, and no sector is dirty any more.
func (n *inode) persist(written func() bool) (left map[int]bool) {
	left = map[int]bool{}
	for _, at := range slices.Sorted(maps.Keys(n.dirty)) {
		if written() {
			n.disk[at] = n.sector(at)
		} else {
			left[at] = true
		}
	}
	clear(n.dirty)
	return left
}

// fakeFile is an open one.
type fakeFile struct {
	d *fakeDisk
	n *inode
}

func (f *fakeFile) Close() error { return nil }

func (f *fakeFile) Size() (int64, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	_, err := f.d.step()
	return int64(len(f.n.data)), err
}

func (f *fakeFile) ReadAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.d.dead {
		return 0, errDead
	}
	n := copy(p, f.n.data[min(off, int64(len(f.n.data))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *fakeFile) Write(p []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	f.d.writes++
	last, err := f.d.step()
	if err == errDead {
		return 0, err
	}
	if f.d.room >= 0 && int64(len(p)) > f.d.room {
		p, err = p[:f.d.room], syscall.ENOSPC
	} else if last || err != nil {
		p = p[:f.d.rng.IntN(len(p)+1)]
	}
	if f.d.room >= 0 {
		f.d.room -= int64(len(p))
	}
	f.resize(append(f.n.data, p...), len(f.n.data))
	if last {
		err = errDead
	}
	return len(p), err
}

// resize changes the content from an offset on.
func (f *fakeFile) resize(data []byte, from int) {
	f.n.data = data
	for at := range f.n.dirty {
		if at*sector >= len(data) {
			delete(f.n.dirty, at)
		}
	}
	for at := from / sector; at*sector < len(data); at++ {
		f.n.dirty[at] = true
	}
	f.n.sizes = append(f.n.sizes, int64(len(data)))
}

func (f *fakeFile) Truncate(size int64) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if _, err := f.d.step(); err != nil {
		return err
	}
	if f.d.room >= 0 {
		f.d.room += int64(len(f.n.data)) - size
	}
	f.resize(append(slices.Clone(f.n.data), make([]byte, max(0, int(size)-len(f.n.data)))...)[:size], int(size))
	return nil
}

func (f *fakeFile) Sync() error {
	if f.d.sync != nil {
		f.d.sync()
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	f.d.syncs++
	last, err := f.d.step()
	if err == errDead {
		return err
	}
	coin := func() bool { return f.d.rng.IntN(2) == 0 }
	switch {
	case last:
		for at := range f.n.persist(coin) {
			f.n.dirty[at] = true // not given up: nobody was told
		}
		return errDead
	case err != nil:
		f.n.persist(coin)
		return err
	}
	f.n.persist(func() bool { return true })
	for at, b := range f.n.disk {
		if at*sector >= len(f.n.data) {
			delete(f.n.disk, at)
		} else {
			f.n.disk[at] = b[:min(len(b), len(f.n.data)-at*sector)]
		}
	}
	f.n.size, f.n.sizes = int64(len(f.n.data)), nil
	return nil
}
