package face

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
)

// layers wraps next in the middleware. Each counts that it ran.
func (f *face) layers(next http.Handler, o server.Options) http.Handler {
	if f.users.Limited() {
		next = f.limit(next)
	}
	return f.identify(server.AccessLog(f.recover(next), o))
}

// identify gives each answer the id of its request.
func (f *face) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.receipts.Layer()
		w.Header().Set("X-Request-Id", f.users.RequestID(r.Header.Get("X-Request-Id")))
		next.ServeHTTP(w, r)
	})
}

// recover answers for a handler that panics. http.ErrAbortHandler breaks the
// connection, as the handler wants.
func (f *face) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.receipts.Layer()
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			refuse(w, fmt.Errorf("panic: %v", v))
		}()
		next.ServeHTTP(w, r)
	})
}

// limit refuses what is beyond the rate limit.
func (f *face) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.receipts.Layer()
		if !f.users.Allow() {
			refuse(w, users.Limited())
			return
		}
		next.ServeHTTP(w, r)
	})
}
