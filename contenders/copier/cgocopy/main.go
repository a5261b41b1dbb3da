// Command cgocopy copies with code that cgocopy generated from the C header. Built
// with the tag generic it is called through cgocopy.Copy and cgocopy.CopySlice.
package main

import (
	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

//go:generate go run github.com/tarebench/tare/cgocopy/cmd/cgocopy gen -type BenchPerson,GameObject,AudioBuffer,DeviceList,Flat2,Flat16,Flat128,Flat1024,Flat8192,Nest9,Deep1,Deep2,Deep3,Deep6,Deep9,Fields1,Fields4,Fields16,Fields64 -tag DeviceList.count=- -tag DeviceList.devices=,len=count -tag DeviceList.tag_count=- -tag DeviceList.tags=,len=tag_count ../../../contender/copier/cmem/fixtures.h

func main() {
	copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
		"BenchPerson": of((*BenchPerson).FromC, BenchPersonsFromC),
		"GameObject":  of((*GameObject).FromC, GameObjectsFromC),
		"AudioBuffer": of((*AudioBuffer).FromC, AudioBuffersFromC),
		"DeviceList":  of((*DeviceList).FromC, DeviceListsFromC),
		"Flat2":       of((*Flat2).FromC, Flat2sFromC),
		"Flat16":      of((*Flat16).FromC, Flat16sFromC),
		"Flat128":     of((*Flat128).FromC, Flat128sFromC),
		"Flat1024":    of((*Flat1024).FromC, Flat1024sFromC),
		"Flat8192":    of((*Flat8192).FromC, Flat8192sFromC),
		"Nest1":       of((*Nest1).FromC, Nest1sFromC),
		"Nest2":       of((*Nest2).FromC, Nest2sFromC),
		"Nest3":       of((*Nest3).FromC, Nest3sFromC),
		"Nest4":       of((*Nest4).FromC, Nest4sFromC),
		"Nest5":       of((*Nest5).FromC, Nest5sFromC),
		"Nest6":       of((*Nest6).FromC, Nest6sFromC),
		"Nest7":       of((*Nest7).FromC, Nest7sFromC),
		"Nest8":       of((*Nest8).FromC, Nest8sFromC),
		"Nest9":       of((*Nest9).FromC, Nest9sFromC),
		"Deep1":       of((*Deep1).FromC, Deep1sFromC),
		"Deep2":       of((*Deep2).FromC, Deep2sFromC),
		"Deep3":       of((*Deep3).FromC, Deep3sFromC),
		"Deep6":       of((*Deep6).FromC, Deep6sFromC),
		"Deep9":       of((*Deep9).FromC, Deep9sFromC),
		"Fields1":     of((*Fields1).FromC, Fields1sFromC),
		"Fields4":     of((*Fields4).FromC, Fields4sFromC),
		"Fields16":    of((*Fields16).FromC, Fields16sFromC),
		"Fields64":    of((*Fields64).FromC, Fields64sFromC),
	}})
}
