package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
)

const requestID = "X-Request-Id"

// interceptors has the interceptors as methods. Each counts its calls, which the lab compares with the
// number of requests. The lab is the program that measures.
type interceptors struct {
	users    *users.Service
	receipts *server.Receipts
}

// setRequestID adds the id of the request to its response.
func (l interceptors) setRequestID(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, q connect.AnyRequest) (connect.AnyResponse, error) {
		l.receipts.Layer()
		id := l.users.RequestID(q.Header().Get(requestID))
		if info, ok := connect.CallInfoForHandlerContext(ctx); ok { // its headers are sent with errors, too
			info.ResponseHeader().Set(requestID, id)
		}
		return next(ctx, q)
	}
}

func (l interceptors) addLog(log *slog.Logger) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, q connect.AnyRequest) (connect.AnyResponse, error) {
			l.receipts.Layer()
			start := time.Now()
			response, err := next(ctx, q)
			code := "ok"
			if err != nil {
				code = connect.CodeOf(err).String()
			}
			log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", q.Spec().Procedure), slog.String("code", code), slog.Duration("took", time.Since(start)))
			return response, err
		}
	}
}

// recoverPanic returns an error if a handler panics. http.ErrAbortHandler panics on, which closes the
// connection.
func (l interceptors) recoverPanic(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, q connect.AnyRequest) (_ connect.AnyResponse, err error) {
		l.receipts.Layer()
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			err = newError(fmt.Errorf("panic: %v", v))
		}()
		return next(ctx, q)
	}
}

func (l interceptors) limitRate(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, q connect.AnyRequest) (connect.AnyResponse, error) {
		l.receipts.Layer()
		if !l.users.Allow() {
			return nil, newError(users.Limited())
		}
		return next(ctx, q)
	}
}
