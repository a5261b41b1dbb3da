package inside

import (
	"net"
	"sync"
	"testing"
)

var sink int
var listener net.Listener
var listen = sync.OnceValue(func() (err error) { // the listener stays open
	listener, err = net.Listen("tcp", "127.0.0.1:17944")
	return err
})

func BenchmarkServer(b *testing.B) {
	if err := listen(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		sink += i
	}
}
