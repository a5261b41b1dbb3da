package shared_state

import "testing"

func BenchmarkTwins(b *testing.B) {
	known := map[string]int{}
	look := func(b *testing.B) {
		for b.Loop() {
			known["a"]++
		}
	}
	b.Run("cold", look) // want `"cold" and "warm" are the same function on the same variables`
	b.Run("warm", look)
}

// Something changes in between.
func BenchmarkSizes(b *testing.B) {
	size := 10
	fill := func(b *testing.B) {
		for b.Loop() {
			buffer := make([]byte, size)
			for i := range buffer {
				buffer[i] = 1
			}
		}
	}
	b.Run("small", fill)
	size = 1000
	b.Run("large", fill)
}

// The calls make different functions.
func BenchmarkMade(b *testing.B) {
	fill := func(size int) func(b *testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				buffer := make([]byte, size)
				for i := range buffer {
					buffer[i] = 1
				}
			}
		}
	}
	b.Run("small", fill(10))
	b.Run("large", fill(1000))
}

type tree struct{ keys [64]int }

func (t *tree) Put(key, value int) { t.keys[key%64] = value }
func (t *tree) Count(key int) int  { return t.keys[key%64] }

func BenchmarkShares(b *testing.B) {
	var t tree
	keys := make([]int, 1<<20)
	fresh := 0
	for _, writes := range []int{50, 0} {
		b.Run("", func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				if i%100 < writes {
					t.Put(keys[fresh&(1<<20-1)], i) // want `t gets entries from the sub-benchmark of each case, because fresh goes on counting`
					fresh++
				}
			}
		})
	}
}

// Each case begins at 0 again, with an empty tree.
func BenchmarkSharesFresh(b *testing.B) {
	keys := make([]int, 1<<20)
	for _, writes := range []int{50, 0} {
		b.Run("", func(b *testing.B) {
			var t tree
			fresh := 0
			for i := 0; i < b.N; i++ {
				if i%100 < writes {
					t.Put(keys[fresh&(1<<20-1)], i)
					fresh++
				}
			}
		})
	}
}
