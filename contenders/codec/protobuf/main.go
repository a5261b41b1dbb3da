// Command protobuf is google.golang.org/protobuf with code generated for messages
// that have the fields of the fixtures.
package main

import (
	"google.golang.org/protobuf/proto"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Load:      loadMessage,
		Target:    findTarget,
		Marshal:   encodeMessage,
		Unmarshal: func(data []byte, target any) error { return proto.Unmarshal(data, target.(proto.Message)) },
		Binary:    true,
		Plain:     toFixture,
		Typed:     true,
	})
}

// encodeMessage encodes a value of loadMessage. If v is an error, it returns the error.
func encodeMessage(v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, v.(error) // of toProbe: the schema cannot represent the value
	}
	return proto.Marshal(m)
}
