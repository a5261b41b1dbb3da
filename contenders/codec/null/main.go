// Command null is the codec that does nothing: what is measured of it is the
// harness. It answers rightly because it is given the answer.
package main

import (
	"encoding/json"
	"io"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Load:    func(_ string, canonical []byte) (any, error) { return canonical, nil },
		Target:  target,
		Marshal: func(v any) ([]byte, error) { return v.([]byte), nil },
		Stream: func(w io.Writer, v any) error {
			_, err := w.Write(v.([]byte))
			return err
		},
		Unmarshal: unmarshal,
		Shared:    true,
	})
}

// target is one place for everything that is decoded.
func target(string) func() any {
	raw := new(json.RawMessage)
	return func() any { return raw }
}

func unmarshal(data []byte, into any) error {
	switch p := into.(type) {
	case *json.RawMessage:
		*p = data
	case *any:
		*p = json.RawMessage(data)
	}
	return nil
}
