// Command ffjson is pquerna/ffjson with code generated for the fixtures' types.
package main

import (
	"io"

	"github.com/pquerna/ffjson/ffjson"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Load:      load,
		Target:    target,
		Marshal:   ffjson.Marshal,
		Stream:    func(w io.Writer, v any) error { return ffjson.NewEncoder(w).Encode(v) },
		Unmarshal: ffjson.Unmarshal,
		Plain:     func(v any) (any, error) { return bare(v), nil },
		Typed:     true, // into anything else it is encoding/json
	})
}
