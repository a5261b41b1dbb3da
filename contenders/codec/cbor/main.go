// Command cbor is fxamacker/cbor, CBOR by reflection.
package main

import (
	"io"
	"log"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	// RFC 8949's preferred serialization: the shortest float that is exact.
	// Times are its standard ones (tag 0, text), for the library's default are
	// whole seconds.
	enc := cbor.PreferredUnsortedEncOptions()
	enc.Time, enc.TimeTag = cbor.TimeRFC3339Nano, cbor.EncTagRequired
	em, err := enc.EncMode()
	if err != nil {
		log.Fatal(err)
	}
	// Maps of no known type are those that encoding/json makes; the default,
	// map[any]any, is no JSON.
	dm, err := cbor.DecOptions{DefaultMapType: reflect.TypeFor[map[string]any]()}.DecMode()
	if err != nil {
		log.Fatal(err)
	}
	codec.Main(codec.Impl{
		Marshal:   em.Marshal,
		Stream:    func(w io.Writer, v any) error { return em.NewEncoder(w).Encode(v) },
		Unmarshal: dm.Unmarshal,
		Binary:    true,
	})
}
