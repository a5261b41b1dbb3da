// Command encoding-json lets tare measure encoding/json of the standard library, called as most programs call
// it.
package main

import (
	"encoding/json"
	"io"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Marshal:   json.Marshal,
		Stream:    func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) },
		Unmarshal: json.Unmarshal,
	})
}
