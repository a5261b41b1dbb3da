//go:build cgo

// Ring reads samples that a C thread writes into a ring buffer. It takes filled samples from the ring,
// copies them, and gives their memory back. So it never copies memory that C may be writing.
package main

// #cgo LDFLAGS: -pthread
// #include "ring.h"
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

//go:generate go run ../../cmd/cgocopy gen -build cgo -type Sample ring.h

const (
	ringSize = 1000    // samples
	total    = 100_000 // samples to read
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ring := C.ring_start(ringSize, total)
	if ring == nil {
		return fmt.Errorf("no ring")
	}
	var samples []Sample // reused for each batch
	var seen int64       // number of samples so far
	var sum float64
	for {
		var batch *C.Sample
		n := C.ring_take(ring, &batch)
		if n == 0 {
			break
		}
		var err error
		samples, err = SamplesFromC(samples, unsafe.Pointer(batch), int(n))
		C.ring_give(ring, n) // C may now overwrite batch; samples is a copy
		if err != nil {
			return err
		}
		for _, s := range samples {
			if s.Sequence != seen {
				return fmt.Errorf("sample %d came as number %d", s.Sequence, seen)
			}
			seen++
			sum += s.Value
		}
	}
	C.ring_stop(ring)
	fmt.Fprintf(os.Stdout, "%d samples in order, sum %.2f %s\n", seen, sum, samples[0].Unit)
	return nil
}
