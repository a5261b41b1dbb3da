// Command gob is the standard library's gob, a message at a time. Built with the tag
// stream it is one stream of messages, which describes its types once.
package main

import (
	"encoding/gob"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	// What attributes of any type can hold beside the basic types, which gob
	// knows by itself.
	gob.Register(map[string]any{})
	gob.Register([]any{})
	codec.Main(codec.Impl{
		Load:      load,
		Target:    target,
		Marshal:   marshal,
		Stream:    stream,
		Unmarshal: unmarshal,
		Binary:    true,
		Typed:     true,
	})
}
