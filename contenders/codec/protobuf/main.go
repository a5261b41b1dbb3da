// Command protobuf is google.golang.org/protobuf with code generated for the
// fixtures' types.
package main

import (
	"google.golang.org/protobuf/proto"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Load:      load,
		Target:    target,
		Marshal:   marshal,
		Unmarshal: func(data []byte, into any) error { return proto.Unmarshal(data, into.(proto.Message)) },
		Binary:    true,
		Plain:     plain,
		Typed:     true,
	})
}

func marshal(v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, v.(error) // load found no room for it in the schema
	}
	return proto.Marshal(m)
}
