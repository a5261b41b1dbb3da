package recorder_reused

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	for i := 0; i < b.N; i++ {
		http.NotFoundHandler().ServeHTTP(w, r) // want `w is one recorder for all iterations`
	}
}
