// Package ffi re-asks a published benchmark of copying C structs with nothing
// but the testing package:
//
//	cd bench/ffi && GOWORK=off go test -bench . -benchtime 3s -benchmem
//
// Names are the write-up's. What it timed as CGOCopy returned an error; here a
// copy that fails ends the benchmark, and TestCopies sees to it that what comes
// of a copy is what C holds. JSON starts from a Go value, as it did there: it is
// a round trip, and somebody has copied the value out of C before. The
// differences between two lines of one run are not yet findings: that is what
// tare run ffi is for.
package ffi

//go:generate go run github.com/tarebench/tare/cgocopy/cmd/cgocopy gen -type SimplePerson,GameObject game.h

// #include "game.h"
import "C"

import "unsafe"

// CPerson is a SimplePerson in C memory.
func CPerson() unsafe.Pointer { return unsafe.Pointer(&C.person) }

// CObject is a GameObject in C memory.
func CObject() unsafe.Pointer { return unsafe.Pointer(&C.object) }
