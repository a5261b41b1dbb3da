package state_grows

import (
	"bytes"
	"strconv"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	var out bytes.Buffer
	for i := 0; i < b.N; i++ {
		out.WriteString(strconv.Itoa(i)) // want `out is written to in each iteration`
	}
}

func BenchmarkStore(b *testing.B) {
	users := map[int]string{}
	var names []string
	for i := 0; i < b.N; i++ {
		users[i] = "user"             // want `users gets a new key`
		names = append(names, "user") // want `names is appended to`
	}
}
