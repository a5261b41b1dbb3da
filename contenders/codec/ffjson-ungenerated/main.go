// Command ffjson-ungenerated calls ffjson on a type for which no code was
// generated, as a published comparison did: ffjson then hands the value to
// encoding/json, and what is measured is encoding/json.
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
