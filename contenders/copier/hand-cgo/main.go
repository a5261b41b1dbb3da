// Command hand-cgo copies as one does by hand: member by member from the types
// that cgo makes of the C header.
package main

import (
	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

func main() {
	copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
		"BenchPerson": copier.Of(copier.Type[copier.Person]{Fill: person, Slice: persons}),
		"GameObject":  copier.Of(copier.Type[copier.GameObject]{Fill: object, Slice: objects}),
		"AudioBuffer": copier.Of(copier.Type[copier.AudioBuffer]{Fill: audio, Slice: audios}),
		"DeviceList":  copier.Of(copier.Type[copier.DeviceList]{Fill: devices}),
	}})
}
