package request_in_loop

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	h := http.NotFoundHandler()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)) // want `NewRequest is timed`
	}
}
