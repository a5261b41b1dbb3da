package broken

import (
	"os"
	"testing"
)

func TestMain(*testing.M) {
	println("no database")
	os.Exit(1)
}

func BenchmarkQuery(b *testing.B) {
	for range b.N {
	}
}
