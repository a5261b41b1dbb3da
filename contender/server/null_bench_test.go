package server

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkNull is a request over loopback to the null server and, for comparison, to net/http. A
// client that does next to nothing shares the process.
func BenchmarkNull(b *testing.B) { overLoopback(b, Null{Answer: Anything}.Serve) }

func BenchmarkStandard(b *testing.B) { overLoopback(b, plainTiny) }

func overLoopback(b *testing.B, app Make) {
	_, addr := up(b, app, Options{Receipts: &Receipts{}})
	request := []byte("GET /v1/id/7 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		conn := connect(b, addr)
		var seen strings.Builder
		in := io.TeeReader(conn, &seen)
		conn.Write(request)
		answered(b, bufio.NewReader(in), http.MethodGet)
		answer := make([]byte, seen.Len())
		for pb.Next() {
			if _, err := conn.Write(request); err != nil {
				b.Error(err)
				return
			}
			if _, err := io.ReadFull(conn, answer); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
