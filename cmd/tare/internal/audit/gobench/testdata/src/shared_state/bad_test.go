package shared_state

import (
	"strconv"
	"sync"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	var users sync.Map
	b.Run("store", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			users.Store(strconv.Itoa(i), i)
		}
	})
	b.Run("load", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			users.Load(strconv.Itoa(i)) // want `users is read in this line`
		}
	})
}

func BenchmarkCases(b *testing.B) {
	var users sync.Map
	for _, prefix := range []string{"a", "b"} {
		b.Run(prefix, func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				users.Store(prefix+strconv.Itoa(i), i) // want `the next case begins with them`
			}
		})
	}
}
