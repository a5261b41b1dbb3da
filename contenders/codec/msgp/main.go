// Command msgp is tinylib/msgp with code that it generated for the types of the
// fixtures.
package main

import (
	"io"

	"github.com/tinylib/msgp/msgp"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Load:      loadValue,
		Target:    findTarget,
		Marshal:   func(v any) ([]byte, error) { return v.(msgp.Marshaler).MarshalMsg(nil) },
		Stream:    func(w io.Writer, v any) error { return msgp.Encode(w, v.(msgp.Encodable)) },
		Unmarshal: decodeMessage,
		Binary:    true, // the output is not JSON
		Plain:     convertTimes,
	})
}

func decodeMessage(data []byte, target any) error {
	var err error
	if v, ok := target.(*any); ok {
		*v, _, err = msgp.ReadIntfBytes(data)
	} else {
		_, err = target.(msgp.Unmarshaler).UnmarshalMsg(data)
	}
	return err
}
