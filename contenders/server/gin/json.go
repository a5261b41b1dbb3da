//go:build !configfastest

package main

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// writeJSON uses the JSON library of gin's build.
func writeJSON(c *gin.Context, v any) { c.JSON(http.StatusOK, v) }
