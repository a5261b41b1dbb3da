// Command ffjson-ungenerated reproduces a published mistake: such a program is called a trap. It calls ffjson
// without generated code. ffjson then calls encoding/json, which was measured instead.
package main

import (
	"io"

	"github.com/pquerna/ffjson/ffjson"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Marshal: ffjson.Marshal,
		Stream:  func(w io.Writer, v any) error { return ffjson.NewEncoder(w).Encode(v) },
	})
}
