package contender

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/tarebench/tare/contender/wire"
)

// live is the heap that survives a collection, in bytes.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func near(have, want, tolerance int64) bool { return have > want-tolerance && have < want+tolerance }

// TestHeapIsHeld: the process holds as much as the prepared workload asks for,
// once, however many workloads ask for it, and nothing of it later.
func TestHeapIsHeld(t *testing.T) {
	const mb = 1 << 20
	l := visit(t, echo(nil))
	before := live()
	for i, heap := range []int64{8 * mb, 8 * mb, 40 * mb, 0, 100 * mb, 16 * mb, 0} {
		w := workload(t, "w"+string(rune('0'+i%2)), "1", "2")
		w.Heap = heap
		l.ok(wire.Request{Op: wire.OpPrepare, Workload: w})
		l.ok(wire.Request{Op: wire.OpSlice, On: w.ID, Until: "ops", Ops: 3})
		if held := live() - before; !near(held, heap, max(heap/10, mb/2)) {
			t.Errorf("prepare %d: %d bytes are held, asked were %d", i, held, heap)
		}
	}
}

// TestHeapIsOfSmallObjects: it is what a service holds, not one big block: the
// sizes are those the allocator hands out, which the tolerance above would hide.
func TestHeapIsOfSmallObjects(t *testing.T) {
	const size = 16 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b := newBallast(size)
	runtime.GC()
	runtime.ReadMemStats(&after)
	objects, bytes := int64(after.HeapObjects-before.HeapObjects), int64(after.HeapAlloc-before.HeapAlloc)
	if objects < size/100 {
		t.Errorf("%d objects in %d bytes", objects, size)
	}
	if !near(bytes, size, size/50) {
		t.Errorf("%d bytes instead of %d", bytes, size)
	}
	n := 0
	for _, s := range b.shelves {
		for _, r := range s {
			if r == nil {
				continue
			}
			if n++; len(r.key) != keyLength || r.tags == nil || unsafe.StringData(r.tags.name) != unsafe.StringData(r.key) || r.older == nil && n > 1 {
				t.Fatalf("record %d: %+v", n, r)
			}
		}
	}
	if want := int(size / recordBytes); n != want {
		t.Errorf("%d records instead of %d", n, want)
	}
}

// TestOneWorkloadIsHeld: what was prepared before is forgotten, so that what a process holds does
// not depend on it; a heap of the same size is kept, another or none ends it.
func TestOneWorkloadIsHeld(t *testing.T) {
	s := &session{program: echo(nil), meter: newMeter()}
	ok := func(q wire.Request) {
		t.Helper()
		if a := s.handleRequest(q); a.Error != nil {
			t.Fatal(a.Error)
		}
	}
	prepare := func(id string, heap int64) {
		t.Helper()
		w := workload(t, id, "1")
		w.Heap = heap
		ok(wire.Request{Op: wire.OpPrepare, Workload: w})
	}
	ok(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	prepare("none", 0)
	if s.ballast != nil {
		t.Error("a heap that nobody asked for")
	}
	prepare("a", 1<<20)
	held := s.ballast
	prepare("b", 1<<20)
	if held == nil || s.ballast != held {
		t.Error("the same heap was built twice")
	}
	if _, is := s.works["b"]; !is || len(s.works) != 1 {
		t.Errorf("works: %v, want the last one only", s.works)
	}
	if a := s.handleRequest(wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "c", Op: "fly"}}); a.Error == nil || s.ballast != held {
		t.Error("a workload that could not be prepared changed the heap")
	}
	prepare("d", 2<<20)
	if len(s.works) != 1 || s.ballast.sizeBytes() != 2<<20 {
		t.Errorf("works: %v, heap %d", s.works, s.ballast.sizeBytes())
	}
	prepare("d", 0)
	if len(s.works) != 1 || s.ballast != nil {
		t.Errorf("works: %v, heap %d", s.works, s.ballast.sizeBytes())
	}
}
