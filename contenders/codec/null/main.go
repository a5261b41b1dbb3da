// Command null is the codec that does nothing: what is measured of it is the
// harness. It answers rightly because it is given the answer.
package main

import (
	"io"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Load:    func(_ string, canonical []byte) (any, error) { return canonical, nil },
		Marshal: func(v any) ([]byte, error) { return v.([]byte), nil },
		Stream: func(w io.Writer, v any) error {
			_, err := w.Write(v.([]byte))
			return err
		},
		Shared: true,
	})
}
