package contender

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"unsafe"

	"github.com/tarebench/tare/contender/wire"
)

// maxHeap is the largest live heap that a workload can ask for, in bytes: the
// collector lets it grow to about twice that before it comes round.
const maxHeap = 1 << 30

// A service that has run for a while has caches, sessions and connections:
// many small objects full of pointers, which the collector must mark in every
// cycle. A ballast is such a heap. Every record is three objects, reached from a
// shelf of pointers, and points at an older record, so that marking jumps
// in memory as it does in a service. It is not used while something is
// measured; it costs marking, and saves cycles.
type ballast struct {
	size    int64 // requested size in bytes
	shelves []*shelf
}

type shelf [shelfLength]*record

const shelfLength = 64

type record struct {
	key   string // not shared
	older *record
	tags  *tags
	_     [6]int64 // counters and times
}

// tags share their strings with the record.
type tags struct{ name, kind, owner string }

const keyLength = 32

// recordBytes is the size of one record with its tags, its key and its pointer on a shelf. All of these are
// size classes of Go's allocator, so nothing is lost to rounding.
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

// newRecord returns record i, which points at one of those before it.
func (b *ballast) newRecord(r *rand.Rand, i int) *record {
	var key [keyLength]byte
	for k, bits := 0, uint64(0); k < len(key); k, bits = k+1, bits>>4 {
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

// checkHeap rejects a size above the limit of contenders.
func checkHeap(size int64) *wire.Error {
	if size < 0 || size > maxHeap {
		return newError(classBadRequest, "heap_bytes %d: a contender holds a live heap of 0 to %d bytes", size, int64(maxHeap))
	}
	return nil
}

// setBallast makes the ballast size bytes. The collection at the end of prepare has then seen it: the next one
// is due when the heap has grown by as much as in a service that has had this heap for long.
func (s *session) setBallast(size int64) {
	if s.ballast.sizeBytes() == size {
		return
	}
	s.ballast = nil
	if size > 0 {
		runtime.GC()                      // frees the former one
		percent := debug.SetGCPercent(-1) // building makes no garbage
		s.ballast = newBallast(size)
		debug.SetGCPercent(percent)
	}
}
