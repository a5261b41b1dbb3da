// Command json-std copies by a round trip through the standard library's JSON. A
// published benchmark compared copying from C with it. It starts from a Go value, not
// from C memory, so the copy from C must have been made before.
package main

import (
	"encoding/json"

	"github.com/tarebench/tare/contender/copier"
)

func main() {
	copier.Main(copier.Impl{Types: copier.RoundTrips(func(src, dst any) error {
		text, err := json.Marshal(src)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, dst)
	})})
}
