// Command easyjson is mailru/easyjson with code generated for the fixtures'
// types.
package main

import (
	"io"

	"github.com/mailru/easyjson"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Load:    load,
		Target:  target,
		Marshal: func(v any) ([]byte, error) { return easyjson.Marshal(v.(easyjson.Marshaler)) },
		Stream: func(w io.Writer, v any) error {
			_, err := easyjson.MarshalToWriter(v.(easyjson.Marshaler), w)
			return err
		},
		Unmarshal: func(data []byte, into any) error { return easyjson.Unmarshal(data, into.(easyjson.Unmarshaler)) },
		Fields:    fields,
		Typed:     true,
	})
}
