package input_consumed

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func decode(w http.ResponseWriter, r *http.Request) {
	var v struct{ Name string }
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func BenchmarkGood(b *testing.B) {
	h := http.HandlerFunc(decode)
	body := strings.NewReader(`{"name":"a"}`)
	req := httptest.NewRequest("POST", "/", body)
	for i := 0; i < b.N; i++ {
		body.Reset(`{"name":"a"}`)
		req.Body = io.NopCloser(body)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}
