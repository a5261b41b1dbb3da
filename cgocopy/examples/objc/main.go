//go:build cgo && objc

// Objc copies structs that Objective-C fills. Objective-C classes cannot be copied, so both sides share a C
// struct from a C header. The example needs an Objective-C compiler, gcc with gobjc or clang. Build it with
// -tags objc.
package main

/*
#cgo LDFLAGS: -lobjc
#include "reading.h"
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
)

//go:generate go run ../../cmd/cgocopy gen -build "cgo && objc" -type Reading reading.h

func main() {
	for range 3 {
		r, err := cgocopy.Copy[Reading](unsafe.Pointer(C.next_reading()))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Fprintf(os.Stdout, "%d %s: %.2f °C, valid %t\n", r.ID, r.Place, r.Celsius, r.Valid)
	}
}
