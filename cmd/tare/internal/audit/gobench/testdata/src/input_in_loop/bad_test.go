package input_in_loop

import (
	"crypto/sha256"
	"strings"
	"testing"
)

var hash [32]byte

func BenchmarkBad(b *testing.B) {
	for b.Loop() {
		text := strings.Repeat("a", 1000) // want `makes the same input again`
		if strings.Count(text, "a") != 1000 {
			b.Fatal("wrong")
		}
	}
}

func generateData(n int) []byte { return make([]byte, n) }

func BenchmarkHelper(b *testing.B) {
	for b.Loop() {
		hash = sha256.Sum256(generateData(1000)) // want `makes the same input again`
	}
}

func BenchmarkFilled(b *testing.B) {
	for b.Loop() {
		data := make([]byte, 1000)
		for i := range data { // want `data is filled again`
			data[i] = byte(i)
		}
		hash = sha256.Sum256(data)
	}
}
