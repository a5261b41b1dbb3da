//go:build configfastest

package main

import (
	"net/http"

	"github.com/gin-gonic/gin"
	jsoniter "github.com/json-iterator/go"
)

// writeJSON sends v with the fastest configuration of jsoniter. gin's renderer uses the compatible one.
func writeJSON(c *gin.Context, v any) {
	body, err := jsoniter.ConfigFastest.Marshal(v)
	if err != nil {
		_ = c.AbortWithError(http.StatusInternalServerError, err)
		return
	}
	c.Data(http.StatusOK, "application/json; charset=utf-8", body)
}
