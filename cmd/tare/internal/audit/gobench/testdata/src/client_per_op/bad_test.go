package client_per_op

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for b.Loop() {
		c := http.Client{Transport: &http.Transport{}} // want `each iteration makes a transport`
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
