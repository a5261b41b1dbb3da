// Command protobuf is google.golang.org/protobuf with generated messages. They have the fields of the
// fixtures, the inputs of a study.
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
		Binary:    true, // the output is not JSON
		Plain:     toFixture,
		Typed:     true, // it decodes into messages only
	})
}

// encodeMessage encodes a value of loadMessage. For an edge case that the schema cannot represent, the error is
// the reason.
func encodeMessage(v any) ([]byte, error) {
	if p, ok := v.(unsupportedProbe); ok {
		return nil, p.why
	}
	return proto.Marshal(v.(proto.Message))
}
