package face

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

// requestID is the header with the id of a request.
const requestID = "X-Request-Id"

// layer are the interceptors, each of which counts its calls.
type layer struct {
	users    *users.Service
	receipts *server.Receipts
}

// identify answers with the id of the request.
func (l layer) identify(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, q connect.AnyRequest) (connect.AnyResponse, error) {
		l.receipts.Layer()
		id := l.users.RequestID(q.Header().Get(requestID))
		if info, ok := connect.CallInfoForHandlerContext(ctx); ok { // which is sent with refusals too
			info.ResponseHeader().Set(requestID, id)
		}
		return next(ctx, q)
	}
}

// log writes a line for each request.
func (l layer) log(to *slog.Logger) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, q connect.AnyRequest) (connect.AnyResponse, error) {
			l.receipts.Layer()
			start := time.Now()
			answer, err := next(ctx, q)
			code := "ok"
			if err != nil {
				code = connect.CodeOf(err).String()
			}
			to.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", q.Spec().Procedure), slog.String("code", code), slog.Duration("took", time.Since(start)))
			return answer, err
		}
	}
}

// recover answers for a handler that panics, unless that wants the connection to
// break.
func (l layer) recover(next connect.UnaryFunc) connect.UnaryFunc {
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
			err = refusal(fmt.Errorf("panic: %v", v))
		}()
		return next(ctx, q)
	}
}

// limit refuses what is beyond the rate limit.
func (l layer) limit(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, q connect.AnyRequest) (connect.AnyResponse, error) {
		l.receipts.Layer()
		if !l.users.Allow() {
			return nil, refusal(users.Limited())
		}
		return next(ctx, q)
	}
}
