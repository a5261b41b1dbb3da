package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// The client without work of its own counts as many answers as the server has sent, of
// bodies that come in one piece or in many.
func TestExchange(t *testing.T) {
	for _, size := range []int{0, 100, 300_000} {
		var asked atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			_, _ = io.WriteString(w, strings.Repeat("x", size))
		}))
		var out bytes.Buffer
		err := runExchange([]string{"-addr", s.Listener.Addr().String(), "-connections", "3", "-duration", "100ms"}, &out)
		s.Close()
		assert.NoError(t, "exchange", err)
		r, err := bareExchange{}.read(out.Bytes())
		assert.NoError(t, "read", err)
		// One request asked for the size, and three are in flight at the end.
		if n := asked.Load(); r.Requests == 0 || r.Requests > n-1 || r.Requests < n-4 {
			t.Errorf("%d bytes: %d answers counted, %d requests came", size, r.Requests, n)
		}
	}
	assert.ErrorContains(t, "nothing listens", runExchange([]string{"-addr", "127.0.0.1:1"}, nil), "connection refused")
}
