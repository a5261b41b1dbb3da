// Command gob is a round trip through the standard library's gob, a message at
// a time. It starts from a Go value, not from C memory.
package main

import (
	"bytes"
	"encoding/gob"

	"github.com/tarebench/tare/contender/copier"
)

func main() {
	copier.Main(copier.Impl{Types: copier.RoundTrips(func(from, into any) error {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(from); err != nil {
			return err
		}
		return gob.NewDecoder(&b).Decode(into)
	})})
}
