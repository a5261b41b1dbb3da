//go:build cgo

// Frame copies 10,000 objects out of C for each of 120 frames, and prints what
// share of a frame at 60 a second the copies took on this machine.
package main

// #include <stdlib.h>
// #include "objects.h"
import "C"

import (
	"fmt"
	"os"
	"slices"
	"time"
	"unsafe"
)

//go:generate go run ../../cmd/cgocopy gen -build cgo -type Object objects.h

const (
	many   = 10_000
	frames = 120
	budget = time.Second / 60
)

func main() {
	scene := C.scene(many)
	defer C.free(unsafe.Pointer(scene))
	var objects []Object
	var took []time.Duration
	for range frames {
		C.step(scene, many)
		start := time.Now() //nolint:forbidigo // it measures
		var err error
		objects, err = ObjectsFromC(objects, unsafe.Pointer(scene), many)
		took = append(took, time.Since(start)) //nolint:forbidigo // it measures
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
	}
	last := objects[many-1]
	fmt.Fprintf(os.Stdout, "%d objects of %d bytes, the last one %s at %v\n", len(objects), SizeofObject, last.Name, last.Position)
	slices.Sort(took[1:])
	median := took[1:][len(took[1:])/2]
	fmt.Fprintf(os.Stdout, "first frame, which allocates: %d µs, %.1f %% of a frame\n", took[0].Microseconds(), share(took[0]))
	fmt.Fprintf(os.Stdout, "median of the others: %d µs, %.1f %% of a frame\n", median.Microseconds(), share(median))
}

// share returns the part of a frame's time d is, in percent.
func share(d time.Duration) float64 { return 100 * float64(d) / float64(budget) }
