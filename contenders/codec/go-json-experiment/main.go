// Command go-json-experiment is the second version of encoding/json, from its development repository, with
// default options.
package main

import (
	"io"

	"github.com/go-json-experiment/json"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Marshal:   func(v any) ([]byte, error) { return json.Marshal(v) },
		Stream:    func(w io.Writer, v any) error { return json.MarshalWrite(w, v) },
		Unmarshal: func(data []byte, target any) error { return json.Unmarshal(data, target) },
	})
}
