package main

import (
	"io"
	"os"

	"github.com/gin-gonic/gin"

	"github.com/tarebench/tare/contender/server"
)

// newEngine returns the engine and middleware of the variant.
func newEngine(o server.Options) (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode)
	var r *gin.Engine
	switch o.Variant {
	case "default":
		gin.DefaultWriter = os.Stdout
		r = gin.Default()
	case "default-discard":
		gin.DefaultWriter = io.Discard
		r = gin.Default()
	default:
		r = gin.New()
		if o.Log != nil {
			r.Use(gin.LoggerWithWriter(o.Log))
		}
	}
	r.HandleMethodNotAllowed = true // 405 where it would be 404
	r.RedirectTrailingSlash = false // 404 where it would be 301
	for i, layer := range r.Handlers {
		r.Handlers[i] = func(c *gin.Context) {
			o.Receipts.Layer()
			layer(c)
		}
	}
	return r, r.SetTrustedProxies(nil) // there are none
}
