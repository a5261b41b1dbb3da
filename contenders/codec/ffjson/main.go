// Command ffjson is pquerna/ffjson with code that it generated for the types of the
// fixtures.
package main

import (
	"io"

	"github.com/pquerna/ffjson/ffjson"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Load:      loadValue,
		Target:    findTarget,
		Marshal:   ffjson.Marshal,
		Stream:    func(w io.Writer, v any) error { return ffjson.NewEncoder(w).Encode(v) },
		Unmarshal: ffjson.Unmarshal,
		Plain:     func(v any) (any, error) { return bare(v), nil }, // a type without generated methods, to compare
		Typed:     true,                                             // ffjson decodes into other types with encoding/json
	})
}
