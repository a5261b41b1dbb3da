package start

import (
	"os"
	"testing"
	"time"
)

var sum int

func TestMain(m *testing.M) {
	time.Sleep(500 * time.Millisecond)
	os.Exit(m.Run())
}

func BenchmarkOne(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sum += i
	}
}

func BenchmarkTwo(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sum -= i
	}
}
