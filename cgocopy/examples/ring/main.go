//go:build cgo

// Ring reads samples that a C thread writes into a ring buffer. It copies only
// what the thread has handed over, and hands it back when it is copied: a copy of
// memory that C may be writing would be a data race, which nobody can see.
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

const total = 100_000

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ring := C.ring_start(1000, total)
	if ring == nil {
		return fmt.Errorf("no ring")
	}
	var samples []Sample
	var seen int64
	var sum float64
	for {
		var from *C.Sample
		n := C.ring_take(ring, &from)
		if n == 0 {
			break
		}
		var err error
		samples, err = SamplesFromC(samples, unsafe.Pointer(from), int(n))
		C.ring_give(ring, n) // from here on only samples may be looked at
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
