package response_body

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for b.Loop() {
		resp, err := http.Get(server.URL) // want `closed unread`
		if err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
	}
}

func BenchmarkOpen(b *testing.B) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for b.Loop() {
		resp, err := http.Get(server.URL) // want `neither read nor closed`
		if err != nil || resp.StatusCode != http.StatusNotFound {
			b.Fatal(err)
		}
	}
}
