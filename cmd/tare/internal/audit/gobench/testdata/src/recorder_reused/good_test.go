package recorder_reused

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// response counts what is written, and keeps the last status.
type response struct {
	header http.Header
	status int
	bytes  int
}

func (w *response) Header() http.Header    { return w.header }
func (w *response) WriteHeader(status int) { w.status = status }
func (w *response) Write(p []byte) (int, error) {
	w.bytes += len(p)
	return len(p), nil
}

func BenchmarkGood(b *testing.B) {
	w := &response{header: http.Header{}}
	r := httptest.NewRequest("GET", "/", nil)
	for i := 0; i < b.N; i++ {
		clear(w.header)
		http.NotFoundHandler().ServeHTTP(w, r)
		if w.status != http.StatusNotFound {
			b.Fatal(w.status)
		}
	}
}
