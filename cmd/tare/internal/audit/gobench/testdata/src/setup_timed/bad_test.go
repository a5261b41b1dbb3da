package setup_timed

import (
	"fmt"
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
