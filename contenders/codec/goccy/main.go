// Command goccy is goccy/go-json, a replacement for encoding/json. It compiles each type for its virtual
// machine.
package main

import (
	"io"

	"github.com/goccy/go-json"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Marshal:   json.Marshal,
		Stream:    func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) },
		Unmarshal: json.Unmarshal,
	})
}
