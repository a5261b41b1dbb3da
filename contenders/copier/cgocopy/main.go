// Command cgocopy copies with code that cgocopy generated from the C header.
package main

import (
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

//go:generate go run github.com/tarebench/tare/cgocopy/cmd/cgocopy gen -type BenchPerson,GameObject,AudioBuffer,DeviceList,Flat2,Flat16,Flat128,Flat1024,Flat8192,Nest9,Fields1,Fields4,Fields16,Fields64 -tag DeviceList.count=- -tag DeviceList.devices=,len=count -tag DeviceList.tag_count=- -tag DeviceList.tags=,len=tag_count ../../../contender/copier/cmem/fixtures.h

func main() {
	copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
		"BenchPerson": of((*BenchPerson).FromC, person, BenchPersonsFromC),
		"GameObject":  of((*GameObject).FromC, object, GameObjectsFromC),
		"AudioBuffer": of((*AudioBuffer).FromC, nil, AudioBuffersFromC),
		"DeviceList":  of((*DeviceList).FromC, nil, DeviceListsFromC),
		"Flat2":       of((*Flat2).FromC, nil, Flat2sFromC),
		"Flat16":      of((*Flat16).FromC, nil, Flat16sFromC),
		"Flat128":     of((*Flat128).FromC, nil, Flat128sFromC),
		"Flat1024":    of((*Flat1024).FromC, nil, Flat1024sFromC),
		"Flat8192":    of((*Flat8192).FromC, nil, Flat8192sFromC),
		"Nest1":       of((*Nest1).FromC, nil, Nest1sFromC),
		"Nest2":       of((*Nest2).FromC, nil, Nest2sFromC),
		"Nest3":       of((*Nest3).FromC, nil, Nest3sFromC),
		"Nest4":       of((*Nest4).FromC, nil, Nest4sFromC),
		"Nest5":       of((*Nest5).FromC, nil, Nest5sFromC),
		"Nest6":       of((*Nest6).FromC, nil, Nest6sFromC),
		"Nest7":       of((*Nest7).FromC, nil, Nest7sFromC),
		"Nest8":       of((*Nest8).FromC, nil, Nest8sFromC),
		"Nest9":       of((*Nest9).FromC, nil, Nest9sFromC),
		"Fields1":     of((*Fields1).FromC, nil, Fields1sFromC),
		"Fields4":     of((*Fields4).FromC, nil, Fields4sFromC),
		"Fields16":    of((*Fields16).FromC, nil, Fields16sFromC),
		"Fields64":    of((*Fields64).FromC, nil, Fields64sFromC),
	}})
}

func of[T any](fill func(*T, unsafe.Pointer) error, value func(unsafe.Pointer) (T, error), slice func([]T, unsafe.Pointer, int) ([]T, error)) copier.Copies {
	return copier.Of(copier.Type[T]{Fill: fill, Value: value, Slice: slice})
}

// A variable and its FromC: the value stays where the caller has room for it.

func person(p unsafe.Pointer) (v BenchPerson, err error) {
	err = v.FromC(p)
	return v, err
}

func object(p unsafe.Pointer) (v GameObject, err error) {
	err = v.FromC(p)
	return v, err
}
