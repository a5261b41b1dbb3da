package unlike_work

import (
	"bytes"
	"encoding/json"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	d := device{"lamp"}
	b.Run("marshal", func(b *testing.B) {
		for b.Loop() {
			if _, err := json.Marshal(d); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("stream", func(b *testing.B) {
		for b.Loop() {
			if err := json.NewEncoder(new(bytes.Buffer)).Encode(d); err != nil {
				b.Fatal(err)
			}
		}
	})
}
