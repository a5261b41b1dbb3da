package error_discarded

import (
	"encoding/json"
	"testing"
)

type config struct {
	Name string
	Done func() `json:",omitempty"`
}

func BenchmarkBad(b *testing.B) {
	c := config{Name: "a", Done: func() {}}
	for i := 0; i < b.N; i++ {
		_, _ = json.Marshal(c) // want `the error of json.Marshal is discarded`
	}
}
