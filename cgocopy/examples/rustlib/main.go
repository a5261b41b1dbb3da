//go:build cgo && rustlib

// Rustlib copies structs from a library that is written in Rust. There is no header: cgocopy reads the
// types from the library. The example needs cargo. Build it with -tags rustlib after
//
//	go generate -tags rustlib
package main

/*
#cgo LDFLAGS: -L${SRCDIR}/target/release -lsensors -lm -ldl -pthread
#include <stddef.h>
extern const void *readings(size_t *n);
*/
import "C"

import (
	"fmt"
	"os"

	"github.com/tarebench/tare/cgocopy"
)

//go:generate cargo build --quiet --release
//go:generate go run ../../cmd/cgocopy gen -build "cgo && rustlib" -repr-c -type Reading -tag Reading.name=,string -object target/release/libsensors.a

func main() {
	var n C.size_t
	array := C.readings(&n)
	list, err := cgocopy.CopySlice[Reading](array, int(n))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, r := range list {
		fmt.Fprintf(os.Stdout, "%d %s: %.1f °C at %d/%d, ok %t\n", r.ID, r.Name, r.Celsius, r.Place.Row, r.Place.Column, r.Ok)
	}
}
