package face

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
)

// requestID is the key of metadata with the id of a request.
const requestID = "x-request-id"

// layer are the interceptors, each of which counts its calls.
type layer struct {
	users    *users.Service
	receipts *server.Receipts
}

// before asks ops before a call; none: there is nothing to ask.
func before(ops *server.Ops) []grpc.UnaryServerInterceptor {
	if !ops.Claim() {
		return nil
	}
	return []grpc.UnaryServerInterceptor{func(ctx context.Context, m any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if err := asked(ctx, ops, info.FullMethod); err != nil {
			return nil, err
		}
		return next(ctx, m)
	}}
}

// beforeStreams is before for streams, such as those of reflection.
func beforeStreams(ops *server.Ops) []grpc.StreamServerInterceptor {
	if !ops.Claim() {
		return nil
	}
	return []grpc.StreamServerInterceptor{func(service any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if err := asked(s.Context(), ops, info.FullMethod); err != nil {
			return err
		}
		return next(service, s)
	}}
}

// asked is why a call is refused before it is made.
func asked(ctx context.Context, ops *server.Ops, method string) error {
	authorization := ""
	if list := metadata.ValueFromIncomingContext(ctx, "authorization"); len(list) > 0 {
		authorization = list[0]
	}
	_, refused := ops.Answer(server.Question{Method: "POST", Path: method, Authorization: authorization})
	if refused {
		return status.Error(codes.Unauthenticated, "a bearer token is required")
	}
	return nil
}

// identify answers with the id of the request.
func (l layer) identify(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
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

// log writes a line for each request.
func (l layer) log(to *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, m any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		l.receipts.Layer()
		start := time.Now()
		answer, err := next(ctx, m)
		to.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", info.FullMethod), slog.String("code", status.Code(err).String()), slog.Duration("took", time.Since(start)))
		return answer, err
	}
}

// recover answers for a handler that panics.
func (l layer) recover(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
	l.receipts.Layer()
	defer func() {
		if v := recover(); v != nil {
			err = refusal(fmt.Errorf("panic: %v", v))
		}
	}()
	return next(ctx, m)
}

// limit refuses what is beyond the rate limit.
func (l layer) limit(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	l.receipts.Layer()
	if !l.users.Allow() {
		return nil, refusal(users.Limited())
	}
	return next(ctx, m)
}
