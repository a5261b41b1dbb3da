//go:build defaultwriter

package main

import (
	"github.com/gin-gonic/gin"
	jsoniter "github.com/json-iterator/go"
)

// A published benchmark had this line, to make gin use jsoniter. It does not compile: gin.DefaultWriter is the
// io.Writer for log lines.
func init() { gin.DefaultWriter = jsoniter.ConfigFastest }
