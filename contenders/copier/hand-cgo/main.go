// Command hand-cgo copies as most programs with cgo do: by handwritten code, member by
// member, from the types that cgo makes of the C header.
package main

import (
	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

func main() {
	copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
		"BenchPerson": copier.Of(copier.Type[copier.Person]{Fill: copyPerson, Slice: copyPersons}),
		"GameObject":  copier.Of(copier.Type[copier.GameObject]{Fill: copyObject, Slice: copyObjects}),
		"AudioBuffer": copier.Of(copier.Type[copier.AudioBuffer]{Fill: copyAudio, Slice: copyAudios}),
		"DeviceList":  copier.Of(copier.Type[copier.DeviceList]{Fill: copyDevices}),
	}})
}
