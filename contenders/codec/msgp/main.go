// Command msgp is tinylib/msgp with code generated for the fixtures' types.
package main

import (
	"io"

	"github.com/tinylib/msgp/msgp"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Load:      load,
		Target:    target,
		Marshal:   func(v any) ([]byte, error) { return v.(msgp.Marshaler).MarshalMsg(nil) },
		Stream:    func(w io.Writer, v any) error { return msgp.Encode(w, v.(msgp.Encodable)) },
		Unmarshal: unmarshal,
		Binary:    true,
		Plain:     plain,
	})
}

func unmarshal(data []byte, into any) error {
	var err error
	if v, ok := into.(*any); ok {
		*v, _, err = msgp.ReadIntfBytes(data)
	} else {
		_, err = into.(msgp.Unmarshaler).UnmarshalMsg(data)
	}
	return err
}
