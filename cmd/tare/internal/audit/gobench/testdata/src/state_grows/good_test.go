package state_grows

import (
	"bytes"
	"strconv"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	var out bytes.Buffer
	for i := 0; i < b.N; i++ {
		out.Reset()
		out.WriteString(strconv.Itoa(i))
	}
}

func BenchmarkStoreOfFixedSize(b *testing.B) {
	users := map[int]string{}
	for i := 0; i < b.N; i++ {
		users[i%1000] = "user"
	}
}
