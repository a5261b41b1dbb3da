// Command cbor is fxamacker/cbor, which encodes CBOR by reflection.
package main

import (
	"io"
	"log"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	// RFC 8949 prefers the shortest exact float. Times are text with tag 0; the default has no fractions of a second.
	enc := cbor.PreferredUnsortedEncOptions()
	enc.Time, enc.TimeTag = cbor.TimeRFC3339Nano, cbor.EncTagRequired
	em, err := enc.EncMode()
	if err != nil {
		log.Fatal(err)
	}
	// Maps are decoded as in encoding/json. JSON cannot represent the default, map[any]any.
	dm, err := cbor.DecOptions{DefaultMapType: reflect.TypeFor[map[string]any]()}.DecMode()
	if err != nil {
		log.Fatal(err)
	}
	codec.Main(codec.Impl{
		Marshal:   em.Marshal,
		Stream:    func(w io.Writer, v any) error { return em.NewEncoder(w).Encode(v) },
		Unmarshal: dm.Unmarshal,
		Binary:    true, // the output is not JSON
	})
}
