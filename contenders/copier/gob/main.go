// Command gob copies by a round trip through the standard library's gob, with a new
// encoder and decoder each time. It starts from a Go value, not from C memory.
package main

import (
	"bytes"
	"encoding/gob"

	"github.com/tarebench/tare/contender/copier"
)

func main() {
	copier.Main(copier.Impl{Types: copier.RoundTrips(func(src, dst any) error {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(src); err != nil {
			return err
		}
		return gob.NewDecoder(&b).Decode(dst)
	})})
}
