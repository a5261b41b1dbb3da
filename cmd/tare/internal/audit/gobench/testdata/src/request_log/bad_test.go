package request_log

import (
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
)

func newRouter() *gin.Engine {
	return gin.Default() // want `gin.Default logs each request`
}

func BenchmarkBad(b *testing.B) {
	router := newRouter()
	req := httptest.NewRequest("GET", "/users/1", nil)
	for b.Loop() {
		router.ServeHTTP(httptest.NewRecorder(), req)
	}
}
