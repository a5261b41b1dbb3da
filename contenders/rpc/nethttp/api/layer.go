package api

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
)

// addLayers wraps next in the middleware. From the outermost to the innermost: request id, access log,
// recovery from panics, rate limit.
func (f *usersServer) addLayers(next http.Handler, o server.Options) http.Handler {
	if f.users.Limited() {
		next = f.limitRate(next)
	}
	return f.setRequestID(server.AccessLog(f.recoverPanic(next), o))
}

// setRequestID adds the id of the request to its response.
func (f *usersServer) setRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.receipts.Layer()
		w.Header().Set("X-Request-Id", f.users.RequestID(r.Header.Get("X-Request-Id")))
		next.ServeHTTP(w, r)
	})
}

// recoverPanic responds with an error if a handler panics. http.ErrAbortHandler panics on, which closes the
// connection.
func (f *usersServer) recoverPanic(next http.Handler) http.Handler {
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
			writeError(w, fmt.Errorf("panic: %v", v))
		}()
		next.ServeHTTP(w, r)
	})
}

func (f *usersServer) limitRate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.receipts.Layer()
		if !f.users.Allow() {
			writeError(w, users.Limited())
			return
		}
		next.ServeHTTP(w, r)
	})
}
