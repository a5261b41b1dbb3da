package face

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
)

// requestID is the key of metadata with the id of a request.
const requestID = "x-request-id"

// interceptors contains the state of the interceptors, each of which counts its calls.
type interceptors struct {
	users    *users.Service
	receipts *server.Receipts
}

// serverOptions returns the options of a service without a lab: it rejects a call after its head, before its
// message is read, and a connection has few calls at once. They are nil under a lab.
func serverOptions(ops *server.Ops) []grpc.ServerOption {
	if !ops.Claim() {
		return nil
	}
	return []grpc.ServerOption{
		grpc.MaxConcurrentStreams(server.MaxStreams),
		grpc.InTapHandle(func(ctx context.Context, call *tap.Info) (context.Context, error) { return ctx, checkCall(ops, call) }),
	}
}

// checkCall returns an error if a call must be rejected before it is made.
func checkCall(ops *server.Ops, call *tap.Info) error {
	only := func(key string) string {
		if list := call.Header.Get(key); len(list) > 0 {
			return list[0]
		}
		return ""
	}
	page, ok := ops.Answer(server.Question{Method: "POST", Path: call.FullMethodName, Host: only(":authority"), Authorization: only("authorization"), ContentType: only("content-type")})
	switch {
	case !ok:
		return nil
	case page.Status == http.StatusUnauthorized:
		return status.Error(codes.Unauthenticated, "a bearer token is required")
	}
	return status.Errorf(codes.PermissionDenied, "over HTTP this would be %d %s", page.Status, http.StatusText(page.Status))
}

// setRequestID adds the id of the request to its answer.
func (l interceptors) setRequestID(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	l.receipts.Layer()
	given := ""
	if ids := metadata.ValueFromIncomingContext(ctx, requestID); len(ids) > 0 {
		given = ids[0]
	}
	if err := grpc.SetHeader(ctx, metadata.Pairs(requestID, l.users.RequestID(given))); err != nil {
		return nil, err
	}
	return next(ctx, m)
}

// addLog writes a line for each request.
func (l interceptors) addLog(to *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, m any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		l.receipts.Layer()
		start := time.Now()
		answer, err := next(ctx, m)
		to.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", info.FullMethod), slog.String("code", status.Code(err).String()), slog.Duration("took", time.Since(start)))
		return answer, err
	}
}

// recoverPanic answers for a handler that panics.
func (l interceptors) recoverPanic(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
	l.receipts.Layer()
	defer func() {
		if v := recover(); v != nil {
			err = newStatus(fmt.Errorf("panic: %v", v))
		}
	}()
	return next(ctx, m)
}

// limitRate rejects requests beyond the rate limit.
func (l interceptors) limitRate(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	l.receipts.Layer()
	if !l.users.Allow() {
		return nil, newStatus(users.Limited())
	}
	return next(ctx, m)
}
