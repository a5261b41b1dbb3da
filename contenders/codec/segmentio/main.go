// Command segmentio is segmentio/encoding/json, a drop-in replacement
// for encoding/json.
package main

import (
	"io"

	"github.com/segmentio/encoding/json"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Marshal:   json.Marshal,
		Stream:    func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) },
		Unmarshal: json.Unmarshal,
	})
}
