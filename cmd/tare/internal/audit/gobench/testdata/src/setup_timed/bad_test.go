package setup_timed

import (
	"fmt"
	"math/rand"
	"sort"
	"strconv"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	texts := make([]string, b.N)
	for i := 0; i < b.N; i++ { // want `prepares b.N inputs is timed`
		texts[i] = fmt.Sprintf("%d", i)
	}
	for i := 0; i < b.N; i++ {
		if _, err := strconv.Atoi(texts[i]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLong(b *testing.B) {
	numbers := make([]int, 1_000_000)
	for i := range numbers { // want `a loop of 1000000 iterations`
		numbers[i] = i * i
	}
	for i := 0; i < b.N; i++ {
		if strconv.Itoa(numbers[i%len(numbers)]) == "" {
			b.Fatal("wrong")
		}
	}
}

// shuffled returns n numbers.
func shuffled(n int) []int {
	out := make([]int, n)
	for i, v := range rand.New(rand.NewSource(5)).Perm(n) {
		out[i] = 4096 * v
	}
	return out
}

func BenchmarkPermutation(b *testing.B) {
	const n = 800_000
	numbers := shuffled(n) // want `shuffled before the loop is timed`
	for i := 0; i < b.N; i++ {
		if sort.SearchInts(numbers, i) < 0 {
			b.Fatal("wrong")
		}
	}
}
