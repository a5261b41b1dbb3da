// Command ffjson-ungenerated is a trap, a contender that reproduces a published
// mistake. It calls ffjson with types for which no code was generated, as a published
// comparison did. ffjson then calls encoding/json, so the comparison measured
// encoding/json.
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
