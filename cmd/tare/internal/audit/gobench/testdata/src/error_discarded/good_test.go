package error_discarded

import (
	"encoding/json"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	event := map[string]any{"name": "a", "done": true}
	for i := 0; i < b.N; i++ {
		if _, err := json.Marshal(event); err != nil {
			b.Fatal(err)
		}
	}
}

func TestUnmarshal(t *testing.T) {
	var event map[string]any
	if err := json.Unmarshal([]byte(`{"name": "a"}`), &event); err != nil {
		t.Error(err)
	}
}

func BenchmarkCheckedByATest(b *testing.B) {
	var event map[string]any
	for i := 0; i < b.N; i++ {
		_ = json.Unmarshal([]byte(`{"name": "a"}`), &event)
	}
}
