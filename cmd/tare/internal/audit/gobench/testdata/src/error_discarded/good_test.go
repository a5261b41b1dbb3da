package error_discarded

import (
	"encoding/json"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	c := config{Name: "a"}
	for i := 0; i < b.N; i++ {
		if _, err := json.Marshal(c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckedBefore(b *testing.B) {
	c := config{Name: "a"}
	if _, err := json.Marshal(c); err != nil {
		b.Fatal(err)
	}
	for i := 0; i < b.N; i++ {
		_, _ = json.Marshal(c)
	}
}
