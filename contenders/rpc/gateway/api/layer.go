package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/grpc"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
)

// layers has the middleware as methods. Each counts its calls, which the program that measures compares
// with the number of requests. They wrap the complete gateway: its own middleware does not see unknown
// paths.
type layers struct {
	users    *users.Service
	receipts *server.Receipts
}

// addLayers wraps next in the middleware. From the outermost to the innermost: request id, access log,
// recovery from panics, rate limit.
func (l layers) addLayers(next http.Handler, o server.Options) http.Handler {
	if l.users.Limited() {
		next = l.limitRate(next)
	}
	return l.setRequestID(server.AccessLog(l.recoverPanic(next), o))
}

// setRequestID adds the id of the request to its response.
func (l layers) setRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.receipts.Layer()
		w.Header().Set("X-Request-Id", l.users.RequestID(r.Header.Get("X-Request-Id")))
		next.ServeHTTP(w, r)
	})
}

// recoverPanic responds with an error if a handler panics. http.ErrAbortHandler panics on, which closes the
// connection.
func (l layers) recoverPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.receipts.Layer()
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			writeError(w, users.RefusalOf(fmt.Errorf("panic: %v", v)))
		}()
		next.ServeHTTP(w, r)
	})
}

// recoverMethod returns an error if a method panics in the backend, which has other goroutines. It does not
// count as a layer: rejected requests do not reach it.
func recoverMethod(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newStatus(fmt.Errorf("panic: %v", v))
		}
	}()
	return next(ctx, m)
}

func (l layers) limitRate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.receipts.Layer()
		if !l.users.Allow() {
			writeError(w, users.RefusalOf(users.Limited()))
			return
		}
		next.ServeHTTP(w, r)
	})
}
