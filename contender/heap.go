package contender

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"unsafe"

	"github.com/tarebench/tare/contender/wire"
)

// A workload may require a live heap: memory that stays allocated while it is measured.

// maxHeap limits a live heap, in bytes. The process may use twice as much before a collection.
const maxHeap = 1 << 30

// ballast is a live heap like that of a service with caches and sessions: small objects full of pointers,
// which every collection must mark. Records refer to older ones, so that marking jumps in memory. Operations
// do not use it.
type ballast struct {
	size    int64
	shelves []*shelf
}

type shelf [shelfLength]*record

const shelfLength = 64

type record struct {
	key   string   // separate memory
	older *record  // a random earlier one; nil in the first
	tags  *tags    // parts of key
	_     [6]int64 // resembles counters and times of a real record
}

// tags are in the same memory as the record's key.
type tags struct{ name, kind, owner string }

const keyLength = 32

// recordBytes is a record with tags, key and pointer on a shelf. These are size classes of Go's allocator.
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

func (b *ballast) sizeBytes() int64 {
	if b == nil {
		return 0
	}
	return b.size
}

func checkHeap(size int64) *wire.Error {
	if size < 0 || size > maxHeap {
		return newError(classBadRequest, "heap_bytes %d: a contender holds a live heap of 0 to %d bytes", size, int64(maxHeap))
	}
	return nil
}

// setBallast replaces the ballast; 0 means none. Call it before the collection in prepare. The next cycle then
// starts as in a service with such a heap.
func (s *session) setBallast(size int64) {
	if s.ballast.sizeBytes() == size {
		return
	}
	s.ballast = nil
	if size > 0 {
		runtime.GC()                      // frees the previous ballast
		percent := debug.SetGCPercent(-1) // building makes no garbage
		s.ballast = newBallast(size)
		debug.SetGCPercent(percent)
	}
}
