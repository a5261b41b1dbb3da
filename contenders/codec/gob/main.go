// Command gob is encoding/gob of the standard library. Each message is a separate gob stream, with
// descriptions of its types. With the build tag stream, one stream has all messages and describes a type once.
package main

import (
	"encoding/gob"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	// Types in attributes, of type any. Basic types are known.
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
