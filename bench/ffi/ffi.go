// Package ffi repeats a published benchmark of copying C structs, with only the
// testing package:
//
//	cd bench/ffi && GOWORK=off go test -bench . -benchtime 3s -benchmem
//
// The structs, and the names of the benchmarks Cgocopy and JSON, are those of the
// publication. Cgocopy calls cgocopy.Copy, as in the publication. FromC fills a value on
// the heap, and Hand copies with cgo code written by hand.
//
// In the publication the timed copies returned an error: they ran after the tests of its
// package. In this package a failed copy ends the benchmark, and TestCopies checks that
// the copies equal the C values. JSON starts from a Go value, as in the publication: it is
// a round trip through JSON, without the copy from C. published.txt contains the published
// results, and make benchmark-copy prints them next to the results of a run.
//
// A difference between two lines of one run may be chance; the command tare run ffi
// measures with repetitions and intervals.
package ffi

//go:generate go run github.com/tarebench/tare/cgocopy/cmd/cgocopy gen -type SimplePerson,GameObject game.h

// #include "game.h"
import "C"

import "unsafe"

// CPerson returns the address of a SimplePerson in C memory.
func CPerson() unsafe.Pointer { return unsafe.Pointer(&C.person) }

// CObject returns the address of a GameObject in C memory.
func CObject() unsafe.Pointer { return unsafe.Pointer(&C.object) }

// HandPerson copies a SimplePerson with code written by hand.
func HandPerson(p unsafe.Pointer) *SimplePerson {
	c := (*C.SimplePerson)(p)
	return &SimplePerson{ID: int32(c.id), Name: C.GoString(&c.name[0]), Balance: float64(c.balance), Active: int32(c.active)}
}

// HandObject copies a GameObject with code written by hand.
func HandObject(p unsafe.Pointer) *GameObject {
	c := (*C.GameObject)(p)
	return &GameObject{
		ID:       int32(c.id),
		Name:     C.GoString(&c.name[0]),
		Position: toPoint(c.position),
		Velocity: toPoint(c.velocity),
		Health:   float32(c.health),
		Level:    int32(c.level),
	}
}

func toPoint(c C.Point3D) Point3D { return Point3D{X: float64(c.x), Y: float64(c.y), Z: float64(c.z)} }
