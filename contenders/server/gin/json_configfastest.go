//go:build configfastest

package main

import (
	"net/http"

	"github.com/gin-gonic/gin"
	jsoniter "github.com/json-iterator/go"
)

// writeJSON sends v in the fastest configuration of jsoniter. It does not use gin's
// renderer, because gin's build tag jsoniter selects the compatible configuration.
func writeJSON(c *gin.Context, v any) {
	body, err := jsoniter.ConfigFastest.Marshal(v)
	if err != nil {
		_ = c.AbortWithError(http.StatusInternalServerError, err)
		return
	}
	c.Data(http.StatusOK, "application/json; charset=utf-8", body)
}
