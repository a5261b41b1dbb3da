// Command easyjson is mailru/easyjson with code that it generated for the types of
// the fixtures.
package main

import (
	"io"

	"github.com/mailru/easyjson"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Load:    loadValue,
		Target:  findTarget,
		Marshal: func(v any) ([]byte, error) { return easyjson.Marshal(v.(easyjson.Marshaler)) },
		Stream: func(w io.Writer, v any) error {
			_, err := easyjson.MarshalToWriter(v.(easyjson.Marshaler), w)
			return err
		},
		Unmarshal: func(data []byte, target any) error { return easyjson.Unmarshal(data, target.(easyjson.Unmarshaler)) },
		Fields:    findPicker,
		Typed:     true, // easyjson decodes only into types with generated code
	})
}
