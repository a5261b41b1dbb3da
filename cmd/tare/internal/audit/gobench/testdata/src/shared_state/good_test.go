package shared_state

import (
	"strconv"
	"sync"
	"testing"
)

func fill(n int) *sync.Map {
	var users sync.Map
	for i := range n {
		users.Store(strconv.Itoa(i), i)
	}
	return &users
}

func BenchmarkGood(b *testing.B) {
	b.Run("store", func(b *testing.B) {
		users := fill(1000)
		b.ResetTimer()
		for i := 0; i < b.N; i++ {
			users.Store(strconv.Itoa(i%1000), i)
		}
	})
	b.Run("load", func(b *testing.B) {
		users := fill(1000)
		b.ResetTimer()
		for i := 0; i < b.N; i++ {
			users.Load(strconv.Itoa(i % 1000))
		}
	})
}
