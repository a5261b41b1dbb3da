package client_per_op

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c := http.Client{Transport: &http.Transport{}}
	for b.Loop() {
		resp, err := c.Get(server.URL)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
	}
}
