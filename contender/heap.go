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

// A service that has run for a while holds caches, sessions and connections:
// many small objects full of pointers, which the collector has to walk at every
// cycle. A ballast is such a heap. Every record is three objects, reached from a
// shelf of pointers, and points at some older record, so that marking it jumps
// about in memory as it does in a service. Nobody touches it while something is
// measured; what it costs is marking, and what it spares is cycles.
type ballast struct {
	size    int64 // as asked for, in bytes
	shelves []*shelf
}

type shelf [shelfLength]*record

const shelfLength = 64

type record struct {
	key   string // of its own
	older *record
	tags  *tags
	_     [6]int64 // counters and times
}

// tags has its strings in common with its record.
type tags struct{ name, kind, owner string }

const keyLength = 32

// recordBytes is what one record takes with all that is its own: itself, its
// tags, its key and its place on a shelf. All of these are sizes that Go's
// allocator hands out as they are, so nothing is lost to rounding.
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
		b.shelves[i/shelfLength][i%shelfLength] = b.record(r, i)
	}
	return b
}

// record makes record i, which knows one of those before it.
func (b *ballast) record(r *rand.Rand, i int) *record {
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

// bytes is the size that was asked for; no ballast has none.
func (b *ballast) bytes() int64 {
	if b == nil {
		return 0
	}
	return b.size
}

// checkHeap refuses a size that no contender should be asked to hold.
func checkHeap(size int64) *wire.Error {
	if size < 0 || size > maxHeap {
		return refusal(classBadRequest, "heap_bytes %d: a contender holds a live heap of 0 to %d bytes", size, int64(maxHeap))
	}
	return nil
}

// hold makes the process hold a live heap of size bytes and no other. The
// collection that ends prepare then has seen it: the next one is due when the
// heap has grown by as much as it would in a service that has held all this for
// long.
func (s *session) hold(size int64) {
	if s.ballast.bytes() == size {
		return
	}
	s.ballast = nil
	if size > 0 {
		runtime.GC()                      // the former one makes room
		percent := debug.SetGCPercent(-1) // nothing that is built is garbage
		s.ballast = newBallast(size)
		debug.SetGCPercent(percent)
	}
}
