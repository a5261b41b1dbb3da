package random_timed

import (
	"math/rand"
	"testing"
)

var source = rand.New(rand.NewSource(1))

func pick(keys []string) string { return keys[source.Intn(len(keys))] }

func BenchmarkCalls(b *testing.B) {
	seen := map[string]int{}
	next := source.Int63
	keys := []string{"a", "b"}
	for i := 0; i < b.N; i++ {
		_ = seen[pick(keys)] // want `the call of pick is timed together with the operation that uses its result .and at 1 other place`
		_ = seen[keys[next()&1]]
	}
}
