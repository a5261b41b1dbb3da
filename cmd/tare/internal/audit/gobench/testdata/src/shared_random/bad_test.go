package shared_random

import (
	"math/rand"
	"sync"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	var users sync.Map
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			users.Load(r.Intn(1000)) // want `r is a random source that all goroutines share` `random-timed`
		}
	})
}
