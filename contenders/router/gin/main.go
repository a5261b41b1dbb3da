// Command gin is Gin in release mode. Variant new has no middleware of Gin. Variant
// default uses gin.Default(), which logs each request and recovers from panics; the log
// is discarded.
package main

import (
	"context"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tarebench/tare/contender/router"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	gin.DefaultWriter = io.Discard
	router.Variants(map[string]router.Build{"new": buildWith(gin.New), "default": buildWith(gin.Default)})
}

// buildWith returns a function that builds a router from an engine of newEngine.
func buildWith(newEngine func(...gin.OptionFunc) *gin.Engine) router.Build {
	return func(_ context.Context, spec router.Spec) (http.Handler, error) {
		r := newEngine()
		for _, layer := range spec.Layers {
			r.Use(newMiddleware(layer))
		}
		for _, route := range spec.Routes {
			route.SlashedRest() // the value of a catch-all begins with a slash
			r.Handle(route.Method, route.ColonPath(), func(c *gin.Context) { route.Reply(c.Writer, c.Param) })
		}
		return r, nil
	}
}

func newMiddleware(layer router.Layer) gin.HandlerFunc {
	return func(c *gin.Context) {
		layer.Around(router.Exchange{
			Method: c.Request.Method, Path: c.Request.URL.Path,
			Get: c.GetHeader, Set: c.Header, Next: c.Next, Status: c.Writer.Status, Stop: c.AbortWithStatus,
		})
	}
}
