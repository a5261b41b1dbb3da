package main

import (
	"io"
	"os"

	"github.com/gin-gonic/gin"

	"github.com/tarebench/tare/contender/server"
)

// newEngine returns an engine with the variant's middleware, whose calls it counts.
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
	r.HandleMethodNotAllowed = true // status 405 instead of 404
	r.RedirectTrailingSlash = false // status 404 instead of 301
	for i, layer := range r.Handlers {
		r.Handlers[i] = func(c *gin.Context) {
			o.Receipts.Layer()
			layer(c)
		}
	}
	return r, r.SetTrustedProxies(nil) // trust no header with a client's address
}
