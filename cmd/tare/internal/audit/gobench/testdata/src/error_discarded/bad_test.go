package error_discarded

import (
	"encoding/json"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	event := map[string]any{"name": "a", "done": func() {}}
	for i := 0; i < b.N; i++ {
		_, _ = json.MarshalIndent(event, "", " ") // want `the error of json.MarshalIndent is discarded`
	}
}
