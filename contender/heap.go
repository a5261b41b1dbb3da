package contender

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"unsafe"

	"github.com/tarebench/tare/contender/wire"
)

// This file allocates the live heap that a workload may require while it is measured.

// maxHeap is the largest live heap that a workload can require, in bytes. The
// process may use about twice as much before a collection.
const maxHeap = 1 << 30

// ballast is a live heap like that of a service that has run for a while. Such a service has caches, sessions
// and connections: many small objects full of pointers, which the collector must mark in every cycle. The
// ballast consists of records of three objects each. Shelves of pointers refer to the records, and each
// record refers to an older one, so that marking jumps in memory as it does in a service. The measured
// operations do not use the ballast; it only makes each collection cycle more expensive, and cycles rarer.
type ballast struct {
	size    int64 // requested size in bytes
	shelves []*shelf
}

// shelf is an array of pointers to records.
type shelf [shelfLength]*record

const shelfLength = 64

type record struct {
	key   string   // in memory of its own
	older *record  // a random one of the records before; nil in the first one
	tags  *tags    // parts of key
	_     [6]int64 // as large as the counters and times of a real record
}

// tags are parts of the record's key, in the same memory.
type tags struct{ name, kind, owner string }

const keyLength = 32

// recordBytes is the size of one record with its tags, its key and its pointer on a shelf. These objects
// have the sizes of size classes of Go's allocator, so no memory is lost to rounding.
const recordBytes = int64(unsafe.Sizeof(record{}) + unsafe.Sizeof(tags{}) + keyLength + unsafe.Sizeof(shelf{})/shelfLength)

// newBallast builds a live heap of size bytes, the same every time.
func newBallast(size int64) *ballast {
	n := int(size / recordBytes)
	b := &ballast{size: size, shelves: make([]*shelf, 0, n/shelfLength+1)}
	r := rand.New(rand.NewPCG(uint64(size), 0))
	for i := range n {
		if i%shelfLength == 0 {
			b.shelves = append(b.shelves, new(shelf))
		}
		b.shelves[i/shelfLength][i%shelfLength] = b.newRecord(r, i)
	}
	return b
}

// newRecord returns record i, which refers to a random one of the records before it.
func (b *ballast) newRecord(r *rand.Rand, i int) *record {
	var key [keyLength]byte
	for k, bits := 0, uint64(0); k < len(key); k, bits = k+1, bits>>4 { // four random bits per letter
		if k%16 == 0 {
			bits = r.Uint64()
		}
		key[k] = 'a' + byte(bits&15)
	}
	rec := &record{key: string(key[:])}
	rec.tags = &tags{name: rec.key[:8], kind: rec.key[8:12], owner: rec.key[12:]}
	if i > 0 {
		k := r.IntN(i)
		rec.older = b.shelves[k/shelfLength][k%shelfLength]
	}
	return rec
}

// sizeBytes returns the requested size in bytes, or 0 if b is nil.
func (b *ballast) sizeBytes() int64 {
	if b == nil {
		return 0
	}
	return b.size
}

// checkHeap returns an error if size is negative or more than maxHeap.
func checkHeap(size int64) *wire.Error {
	if size < 0 || size > maxHeap {
		return newError(classBadRequest, "heap_bytes %d: a contender holds a live heap of 0 to %d bytes", size, int64(maxHeap))
	}
	return nil
}

// setBallast replaces the ballast by one of size bytes, or none if size is 0. It must run before the collection at the
// end of prepare: the collector then starts the next cycle as late as in a service that has long had such a heap.
func (s *session) setBallast(size int64) {
	if s.ballast.sizeBytes() == size {
		return
	}
	s.ballast = nil
	if size > 0 {
		runtime.GC()                      // frees the previous ballast
		percent := debug.SetGCPercent(-1) // building makes no garbage, so cycles would be useless
		s.ballast = newBallast(size)
		debug.SetGCPercent(percent)
	}
}
