package response_body

import (
	"net/http"
	"testing"
)

func BenchmarkClientAsk(b *testing.B) {
	c := &client{http: http.DefaultClient}
	for b.Loop() {
		resp, err := c.ask("http://127.0.0.1:1") // want `neither read nor closed`
		if err != nil || resp.StatusCode != http.StatusOK {
			b.Fatal(err)
		}
	}
}

func BenchmarkClientHead(b *testing.B) {
	c := &client{http: http.DefaultClient}
	for b.Loop() {
		resp, err := c.head("http://127.0.0.1:1")
		if err != nil || resp.StatusCode != http.StatusOK {
			b.Fatal(err)
		}
	}
}

func BenchmarkClientStatus(b *testing.B) {
	c := &client{http: http.DefaultClient}
	for b.Loop() {
		resp, err := c.status("http://127.0.0.1:1")
		if err != nil || resp.StatusCode != http.StatusOK {
			b.Fatal(err)
		}
	}
}
