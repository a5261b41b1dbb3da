package request_in_loop

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	h := http.NotFoundHandler()
	r := httptest.NewRequest("GET", "/", nil)
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}
