package input_consumed

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	in := strings.NewReader(`{"name":"a"}`)
	var v struct{ Name string }
	for i := 0; i < b.N; i++ {
		_ = json.NewDecoder(in).Decode(&v) // want `in is a reader made before the loop`
	}
}

func BenchmarkRequest(b *testing.B) {
	h := http.HandlerFunc(decode)
	req := httptest.NewRequest("POST", "/", strings.NewReader(`{"name":"a"}`))
	for i := 0; i < b.N; i++ {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req) // want `req is a request with a body made before the loop`
		if w.Code >= 500 {
			b.Fatal(w.Code)
		}
	}
}

func BenchmarkDecoder(b *testing.B) {
	in := json.NewDecoder(strings.NewReader(`{"name":"a"}`))
	var v struct{ Name string }
	for i := 0; i < b.N; i++ {
		_ = in.Decode(&v) // want `in is made of a reader before the loop`
	}
}

func BenchmarkDelete(b *testing.B) {
	users := map[int]string{1: "a", 2: "b"}
	for i := 0; i < b.N; i++ {
		delete(users, i) // want `delete removes keys from users and nothing adds them again`
	}
}

func BenchmarkWords(b *testing.B) {
	in := strings.NewReader("many words")
	for i := 0; i < b.N; i++ {
		if err := discard(in); err != nil { // want `in is a reader made before the loop`
			b.Fatal(err)
		}
	}
}

func discard(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}
