// Command protobuf is google.golang.org/protobuf with code generated for messages
// that have the fields of the fixtures, the values that codecs encode in a study.
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

// encodeMessage encodes a value of loadMessage: a message, or a probe without a message, for which
// it returns the reason as the error.
func encodeMessage(v any) ([]byte, error) {
	if p, ok := v.(unsupportedProbe); ok {
		return nil, p.why
	}
	return proto.Marshal(v.(proto.Message))
}
