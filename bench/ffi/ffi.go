// Package ffi re-asks a published benchmark of copying C structs with nothing
// but the testing package:
//
//	cd bench/ffi && GOWORK=off go test -bench . -benchtime 3s -benchmem
//
// Structs and names of benchmarks are the write-up's: Cgocopy and JSON. Cgocopy calls
// Copy, as it did; FromC fills a value on the heap, and Hand is cgo written by hand.
// What was timed there, after the tests of its package, returned an error; here a copy
// that fails ends the benchmark, and TestCopies sees to it that what comes
// of a copy is what C holds. JSON starts from a Go value, as it did there: it is
// a round trip, and somebody has copied the value out of C before. published.txt has
// the published lines, and make benchmark-copy prints them beside these. The
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

// HandPerson copies a SimplePerson as one writes it by hand.
func HandPerson(p unsafe.Pointer) *SimplePerson {
	c := (*C.SimplePerson)(p)
	return &SimplePerson{ID: int32(c.id), Name: C.GoString(&c.name[0]), Balance: float64(c.balance), Active: int32(c.active)}
}

// HandObject copies a GameObject likewise.
func HandObject(p unsafe.Pointer) *GameObject {
	c := (*C.GameObject)(p)
	return &GameObject{
		ID: int32(c.id), Name: C.GoString(&c.name[0]), Position: point(c.position), Velocity: point(c.velocity),
		Health: float32(c.health), Level: int32(c.level),
	}
}

func point(c C.Point3D) Point3D { return Point3D{X: float64(c.x), Y: float64(c.y), Z: float64(c.z)} }
