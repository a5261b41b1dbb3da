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
		keys := rand.New(rand.NewSource(seed.Add(1))).Perm(1000)
		i := 0
		for pb.Next() {
			users.Load(keys[i%len(keys)])
			i++
		}
	})
}
