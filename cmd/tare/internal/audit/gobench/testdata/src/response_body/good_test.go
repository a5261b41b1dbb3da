package response_body

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for b.Loop() {
		resp, err := http.Get(server.URL)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
	}
}
