package face

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/grpc"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
)

// layers contains the middleware. It is in front of the gateway, which does not call its own for unknown
// paths.
type layers struct {
	users    *users.Service
	receipts *server.Receipts
}

// addLayers applies the layers to next.
func (l layers) addLayers(next http.Handler, o server.Options) http.Handler {
	if l.users.Limited() {
		next = l.limitRate(next)
	}
	return l.setRequestID(server.AccessLog(l.recoverPanic(next), o))
}

// setRequestID adds the id of the request to its answer.
func (l layers) setRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.receipts.Layer()
		w.Header().Set("X-Request-Id", l.users.RequestID(r.Header.Get("X-Request-Id")))
		next.ServeHTTP(w, r)
	})
}

// recoverPanic answers for a handler that panics, unless the panic is meant to close the connection.
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
			writeAnswer(w, users.RefusalOf(fmt.Errorf("panic: %v", v)))
		}()
		next.ServeHTTP(w, r)
	})
}

// recoverMethod answers for a method that panics in a backend, which calls it in a goroutine of its own,
// without layers. It does not count as a layer: a request that the gateway rejects does not reach it.
func recoverMethod(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newStatus(fmt.Errorf("panic: %v", v))
		}
	}()
	return next(ctx, m)
}

// limitRate rejects requests beyond the rate limit.
func (l layers) limitRate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.receipts.Layer()
		if !l.users.Allow() {
			writeAnswer(w, users.RefusalOf(users.Limited()))
			return
		}
		next.ServeHTTP(w, r)
	})
}
