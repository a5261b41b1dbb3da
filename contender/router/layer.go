package router

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Layers of middleware that a comparison of routers can list, in the order of application.
const (
	LayerRequestID = "request-id" // returns the id of the request, a generated one if it has none
	LayerAccess    = "access-log" // formats a line per request and discards it
	LayerRecovery  = "recovery"   // turns a panic into status 500
	LayerCORS      = "cors"       // allows the origin, and answers preflight requests
	LayerSecurity  = "security"   // adds three security headers
)

// LayerNames returns the first n of the layers, 0 to 5.
func LayerNames(n int) ([]string, error) {
	all := []string{LayerRequestID, LayerAccess, LayerRecovery, LayerCORS, LayerSecurity}
	if n < 0 || n > len(all) {
		return nil, fmt.Errorf("a chain of %d layers, want 0 to %d: %s", n, len(all), strings.Join(all, ", "))
	}
	return all[:n], nil
}

const (
	headerRequestID   = "X-Request-Id"
	headerAllowOrigin = "Access-Control-Allow-Origin"
	headerNoSniff     = "X-Content-Type-Options"
	noSniff           = "nosniff"

	requestIDLength = 16
)

// Layer is one piece of middleware. Its work is the same for every framework;
// each framework has its own way to wrap handlers with it. Frameworks that
// accept func(http.Handler) http.Handler use [Layer.Handler]; others:
//
//	for _, layer := range spec.Layers {
//		r.Use(func(c *gin.Context) {
//			layer.Around(router.Exchange{Get: c.GetHeader, Next: c.Next, …})
//		})
//	}
type Layer struct {
	Name string
	*layer
}

type layer struct {
	calls *int64
	ids   uint32
	line  []byte
	log   io.Writer // io.Discard, except in tests
}

// Exchange gives middleware access to one request: functions for headers and the rest of the chain. Layers do
// not store the functions, so closures need not be allocated.
type Exchange struct {
	Method, Path string
	Get          func(name string) string // returns a request header; "" if it is missing
	Set          func(name, value string) // sets a response header
	Next         func()                   // calls the rest of the chain, including the handler
	Status       func() int               // returns the status of the response; valid after Next
	Stop         func(status int)         // responds with only a status and ends the chain
}

func newLayer(name string, calls *int64) (Layer, error) {
	switch name {
	case LayerRequestID, LayerAccess, LayerRecovery, LayerCORS, LayerSecurity:
		return Layer{Name: name, layer: &layer{calls: calls, log: io.Discard}}, nil
	}
	return Layer{}, fmt.Errorf("unknown layer %q", name)
}

// Around does the work of the layer before and after x.Next.
func (l Layer) Around(x Exchange) {
	*l.calls++
	switch l.Name {
	case LayerRequestID:
		id := x.Get(headerRequestID)
		if id == "" {
			id = l.makeID()
		}
		x.Set(headerRequestID, id)
		x.Next()
	case LayerAccess:
		start := time.Now()
		x.Next()
		l.writeLog(x, time.Since(start))
	case LayerRecovery:
		defer func() {
			if recover() != nil {
				x.Stop(500)
			}
		}()
		x.Next()
	case LayerCORS:
		if origin := x.Get("Origin"); origin != "" {
			x.Set(headerAllowOrigin, origin)
			x.Set("Vary", "Origin")
			if x.Method == "OPTIONS" && x.Get("Access-Control-Request-Method") != "" {
				x.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
				x.Stop(204)
				return
			}
		}
		x.Next()
	case LayerSecurity:
		x.Set(headerNoSniff, noSniff)
		x.Set("X-Frame-Options", "DENY")
		x.Set("Referrer-Policy", "no-referrer")
		x.Next()
	}
}

// makeID's ids differ: products of different numbers with an odd constant do. Both constants are from
// SplitMix64.
func (l Layer) makeID() string {
	const digits = "0123456789abcdef"
	l.ids++
	z := (uint64(l.ids) + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	var id [requestIDLength]byte
	for i := range id {
		id[i] = digits[z>>60] // the highest four bits first
		z <<= 4
	}
	return string(id[:])
}

// writeLog writes the line of a request with one call of Write, as a server's log does.
func (l Layer) writeLog(x Exchange, took time.Duration) {
	b := append(l.line[:0], x.Method...)
	b = append(append(b, ' '), x.Path...)
	b = strconv.AppendInt(append(b, ' '), int64(x.Status()), 10)
	b = strconv.AppendInt(append(b, ' '), took.Nanoseconds(), 10)
	l.line = append(b, " ns\n"...)
	_, _ = l.log.Write(l.line) // io.Discard returns no error
}
