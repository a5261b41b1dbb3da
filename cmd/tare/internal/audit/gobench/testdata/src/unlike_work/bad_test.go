package unlike_work

import (
	"bytes"
	"encoding/json"
	"testing"
)

type device struct{ Name string }

var sink any

func BenchmarkBad(b *testing.B) {
	d := device{"lamp"}
	b.Run("marshal", func(b *testing.B) {
		for b.Loop() {
			if _, err := json.Marshal(d); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("stream", func(b *testing.B) {
		for b.Loop() { // want `only makes values`
			sink = json.NewEncoder(new(bytes.Buffer))
		}
	})
}
