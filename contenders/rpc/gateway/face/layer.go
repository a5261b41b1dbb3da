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

// layer is the middleware. It stands in front of the gateway, which does not call
// its own for paths that it does not know.
type layer struct {
	users    *users.Service
	receipts *server.Receipts
}

// around puts the layers around next.
func (l layer) around(next http.Handler, o server.Options) http.Handler {
	if l.users.Limited() {
		next = l.limit(next)
	}
	return l.identify(server.AccessLog(l.recover(next), o))
}

// identify gives each answer the id of its request.
func (l layer) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.receipts.Layer()
		w.Header().Set("X-Request-Id", l.users.RequestID(r.Header.Get("X-Request-Id")))
		next.ServeHTTP(w, r)
	})
}

// recover answers for a handler that panics, unless that wants the connection to
// break.
func (l layer) recover(next http.Handler) http.Handler {
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
			answer(w, users.RefusalOf(fmt.Errorf("panic: %v", v)))
		}()
		next.ServeHTTP(w, r)
	})
}

// recovered answers for a method that panics in a backend, which calls it in a
// goroutine that no layer stands around. It is not counted as one: a request that
// the gateway refuses does not come there.
func recovered(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = refusal(fmt.Errorf("panic: %v", v))
		}
	}()
	return next(ctx, m)
}

// limit refuses what is beyond the rate limit.
func (l layer) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.receipts.Layer()
		if !l.users.Allow() {
			answer(w, users.RefusalOf(users.Limited()))
			return
		}
		next.ServeHTTP(w, r)
	})
}
