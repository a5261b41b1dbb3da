package oneside

import (
	"net"
	"os"
	"testing"
)

var sink int

func TestMain(m *testing.M) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	code := m.Run()
	_ = l.Close()
	os.Exit(code)
}

func BenchmarkPort(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += i
	}
}
