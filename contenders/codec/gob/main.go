// Command gob is encoding/gob of the standard library. Each message is a separate gob
// stream, which begins with descriptions of its types. With the build tag stream, all
// messages belong to one stream, which describes each type only once.
package main

import (
	"encoding/gob"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	// Types in attributes, whose values are of type any. gob needs no registration
	// of basic types.
	gob.Register(map[string]any{})
	gob.Register([]any{})
	codec.Main(codec.Impl{
		Load:      loadValue,
		Target:    findTarget,
		Marshal:   encodeMessage,
		Stream:    writeMessage,
		Unmarshal: decodeMessage,
		Binary:    true, // the output is not JSON
		Typed:     true, // a gob can be decoded only into its type
	})
}
