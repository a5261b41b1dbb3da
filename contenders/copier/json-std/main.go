// Command json-std is a round trip through the standard library's JSON: what a
// published comparison held copying from C against. It starts from a Go value,
// not from C memory: somebody has copied that before.
package main

import (
	"encoding/json"

	"github.com/tarebench/tare/contender/copier"
)

func main() {
	copier.Main(copier.Impl{Types: copier.RoundTrips(func(from, into any) error {
		text, err := json.Marshal(from)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, into)
	})})
}
