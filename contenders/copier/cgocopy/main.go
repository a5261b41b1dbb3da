// Command cgocopy copies with code that cgocopy generated from the C header. With the
// build tag generic it calls that code through cgocopy.Copy and cgocopy.CopySlice.
package main

import (
	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

//go:generate go run github.com/tarebench/tare/cgocopy/cmd/cgocopy gen -type BenchPerson,GameObject,AudioBuffer,DeviceList,Flat2,Flat16,Flat128,Flat1024,Flat8192,Nest9,Deep1,Deep2,Deep3,Deep6,Deep9,Fields1,Fields4,Fields16,Fields64 -tag DeviceList.count=- -tag DeviceList.devices=,len=count -tag DeviceList.tag_count=- -tag DeviceList.tags=,len=tag_count ../../../contender/copier/cmem/fixtures.h

func main() {
	copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
		"BenchPerson": newCopies((*BenchPerson).FromC, BenchPersonsFromC),
		"GameObject":  newCopies((*GameObject).FromC, GameObjectsFromC),
		"AudioBuffer": newCopies((*AudioBuffer).FromC, AudioBuffersFromC),
		"DeviceList":  newCopies((*DeviceList).FromC, DeviceListsFromC),
		"Flat2":       newCopies((*Flat2).FromC, Flat2sFromC),
		"Flat16":      newCopies((*Flat16).FromC, Flat16sFromC),
		"Flat128":     newCopies((*Flat128).FromC, Flat128sFromC),
		"Flat1024":    newCopies((*Flat1024).FromC, Flat1024sFromC),
		"Flat8192":    newCopies((*Flat8192).FromC, Flat8192sFromC),
		"Nest1":       newCopies((*Nest1).FromC, Nest1sFromC),
		"Nest2":       newCopies((*Nest2).FromC, Nest2sFromC),
		"Nest3":       newCopies((*Nest3).FromC, Nest3sFromC),
		"Nest4":       newCopies((*Nest4).FromC, Nest4sFromC),
		"Nest5":       newCopies((*Nest5).FromC, Nest5sFromC),
		"Nest6":       newCopies((*Nest6).FromC, Nest6sFromC),
		"Nest7":       newCopies((*Nest7).FromC, Nest7sFromC),
		"Nest8":       newCopies((*Nest8).FromC, Nest8sFromC),
		"Nest9":       newCopies((*Nest9).FromC, Nest9sFromC),
		"Deep1":       newCopies((*Deep1).FromC, Deep1sFromC),
		"Deep2":       newCopies((*Deep2).FromC, Deep2sFromC),
		"Deep3":       newCopies((*Deep3).FromC, Deep3sFromC),
		"Deep6":       newCopies((*Deep6).FromC, Deep6sFromC),
		"Deep9":       newCopies((*Deep9).FromC, Deep9sFromC),
		"Fields1":     newCopies((*Fields1).FromC, Fields1sFromC),
		"Fields4":     newCopies((*Fields4).FromC, Fields4sFromC),
		"Fields16":    newCopies((*Fields16).FromC, Fields16sFromC),
		"Fields64":    newCopies((*Fields64).FromC, Fields64sFromC),
	}})
}
