package router

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Layers that a study can ask for, in the order in which they are put on.
const (
	LayerRequestID = "request-id" // takes the request's own id or makes one up, and answers it
	LayerAccess    = "access-log" // writes a line about each request to nowhere
	LayerRecovery  = "recovery"   // turns a panic into status 500
	LayerCORS      = "cors"       // allows the origin, and answers preflight requests
	LayerSecurity  = "security"   // adds three headers that browsers heed
)

// LayerNames are the first n of the layers, 0 to 5.
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

// Layer is one piece of middleware. What it does is the same for everybody;
// how it gets around the handlers is each framework's own way. Frameworks that
// take func(http.Handler) http.Handler take [Layer.Handler]; in another way:
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

// layer is what it keeps between requests, which come one after the other.
type layer struct {
	calls *int64 // of all layers
	made  uint32 // request ids
	line  []byte // of the log
	log   io.Writer
}

// Exchange is what a layer sees of one request: how the framework reads and
// writes headers, and how it goes on. None of the functions is kept, so that
// closures over a framework's context need not be allocated.
type Exchange struct {
	Method, Path string
	Get          func(name string) string // of a request header; empty: it is not there
	Set          func(name, value string) // of a response header
	Next         func()                   // the rest of the chain, with the handler
	Status       func() int               // of the response, after Next
	Stop         func(status int)         // answers with nothing but a status, and nobody else answers
}

func newLayer(name string, calls *int64) (Layer, error) {
	switch name {
	case LayerRequestID, LayerAccess, LayerRecovery, LayerCORS, LayerSecurity:
		return Layer{name, &layer{calls: calls, log: io.Discard}}, nil
	}
	return Layer{}, fmt.Errorf("unknown layer %q", name)
}

// Around does what the layer is for, around x.Next.
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
		l.write(x, time.Since(start))
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

// makeID makes up a request id: sixteen hexadecimal digits, a new one each time.
func (l Layer) makeID() string {
	const digits = "0123456789abcdef"
	l.made++
	z := (uint64(l.made) + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9 // odd: no two numbers come to the same
	var id [requestIDLength]byte
	for i := range id {
		id[i] = digits[z>>60]
		z <<= 4
	}
	return string(id[:])
}

// write logs one request, in one piece, as a server's own log does.
func (l Layer) write(x Exchange, took time.Duration) {
	b := append(l.line[:0], x.Method...)
	b = append(append(b, ' '), x.Path...)
	b = strconv.AppendInt(append(b, ' '), int64(x.Status()), 10)
	b = strconv.AppendInt(append(b, ' '), took.Nanoseconds(), 10)
	l.line = append(b, " ns\n"...)
	_, _ = l.log.Write(l.line) // nowhere
}
