package shared_random

import (
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	var users sync.Map
	var seed atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		r := rand.New(rand.NewSource(seed.Add(1)))
		for pb.Next() {
			users.Load(r.Intn(1000))
		}
	})
}
