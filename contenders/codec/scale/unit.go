package main

// worker does units of arithmetic (spin) or allocation (alloc). It stores results, so that the compiler cannot
// remove the work.
type worker struct {
	state   uint64     // last value of xorShift
	objects [16][]byte // the newest objects of alloc
	next    int        // index of the next object
}

// xorShift is Marsaglia's generator. Each step needs the one before, so the processor cannot run them in
// parallel.
func xorShift(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	return x ^ x<<17
}

const spinSteps = 350 // steps in a unit of spin

// spin does a unit of arithmetic.
func (w *worker) spin() {
	x := w.state | 1 // xorshift would stay at 0
	for range spinSteps {
		x = xorShift(x)
	}
	w.state = x
}

// alloc allocates three small objects and fills them. Each stays until 16 later ones exist.
func (w *worker) alloc() {
	x := w.state | 1
	for k := range 3 {
		object := make([]byte, 64+32*k)
		for i := range object {
			x = xorShift(x)
			object[i] = byte(x)
		}
		w.objects[w.next] = object
		w.next = (w.next + 1) % len(w.objects)
	}
	w.state = x
}
