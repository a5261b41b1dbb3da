// Command gob is the standard library's gob, a message at a time.
package main

import (
	"bytes"
	"encoding/gob"
	"io"

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
		Stream:    func(w io.Writer, v any) error { return gob.NewEncoder(w).Encode(v) },
		Unmarshal: func(data []byte, into any) error { return gob.NewDecoder(bytes.NewReader(data)).Decode(into) },
		Binary:    true,
		Typed:     true,
	})
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}
