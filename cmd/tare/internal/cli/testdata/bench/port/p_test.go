package port

import (
	"net"
	"os"
	"testing"
	"time"
)

var sum int

func TestMain(m *testing.M) {
	time.Sleep(100 * time.Millisecond)
	l, err := net.Listen("tcp", "127.0.0.1:17946")
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
		sum += i
	}
}
