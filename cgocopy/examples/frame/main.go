//go:build cgo

// Frame copies 10,000 objects from C for each of 120 frames. It prints the share of a frame's time that a
// copy takes, at 60 frames per second.
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
	objectCount = 10_000
	frames      = 120
	frameTime   = time.Second / 60
)

func main() {
	scene := C.scene(objectCount)
	defer C.free(unsafe.Pointer(scene))
	var objects []Object          // reused for each frame
	var copyTimes []time.Duration // per frame
	for range frames {
		C.step(scene, objectCount)
		start := time.Now() //nolint:forbidigo // it measures
		var err error
		objects, err = ObjectsFromC(objects, unsafe.Pointer(scene), objectCount)
		copyTimes = append(copyTimes, time.Since(start)) //nolint:forbidigo // it measures
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
	}
	last := objects[objectCount-1]
	fmt.Fprintf(os.Stdout, "%d objects of %d bytes, the last one %s at %v\n", len(objects), SizeofObject, last.Name, last.Position)
	first, others := copyTimes[0], copyTimes[1:]
	slices.Sort(others)
	median := others[len(others)/2]
	fmt.Fprintf(os.Stdout, "first frame, which allocates: %d µs, %.1f %% of a frame\n", first.Microseconds(), share(first))
	fmt.Fprintf(os.Stdout, "median of the others: %d µs, %.1f %% of a frame\n", median.Microseconds(), share(median))
}

// share returns d in percent of the time of a frame.
func share(d time.Duration) float64 { return 100 * float64(d) / float64(frameTime) }
