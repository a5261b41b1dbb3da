package request_log

import (
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
)

func BenchmarkGood(b *testing.B) {
	router := gin.New()
	req := httptest.NewRequest("GET", "/users/1", nil)
	for b.Loop() {
		router.ServeHTTP(httptest.NewRecorder(), req)
	}
}
