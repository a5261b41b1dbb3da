package api

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

// requestID is the metadata key of the id of a request.
const requestID = "x-request-id"

// interceptors has the interceptors as methods. Each counts its calls, which the program that measures
// compares with the number of requests.
type interceptors struct {
	users    *users.Service
	receipts *server.Receipts
}

// serverOptions returns the options of a standalone service, or nil in a study. They limit the calls in
// progress on a connection, and check a call before its message is read.
func serverOptions(ops *server.Ops) []grpc.ServerOption {
	if !ops.Claim() {
		return nil
	}
	return []grpc.ServerOption{
		grpc.MaxConcurrentStreams(server.MaxStreams),
		grpc.InTapHandle(func(ctx context.Context, call *tap.Info) (context.Context, error) {
			return ctx, checkCall(ops, call)
		}),
	}
}

// checkCall returns a status if ops rejects a call, for example because the token is missing.
func checkCall(ops *server.Ops, call *tap.Info) error {
	firstValue := func(key string) string {
		if list := call.Header.Get(key); len(list) > 0 {
			return list[0]
		}
		return ""
	}
	response, hasResponse := ops.Answer(server.Question{
		Method:        "POST",
		Path:          call.FullMethodName,
		Host:          firstValue(":authority"),
		Authorization: firstValue("authorization"),
		ContentType:   firstValue("content-type"),
	})
	switch {
	case !hasResponse:
		return nil
	case response.Status == http.StatusUnauthorized:
		return status.Error(codes.Unauthenticated, "a bearer token is required")
	}
	return status.Errorf(codes.PermissionDenied, "over HTTP this would be %d %s", response.Status, http.StatusText(response.Status))
}

// setRequestID adds the id of the request to its response.
func (l interceptors) setRequestID(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	l.receipts.Layer()
	clientID := "" // sent by the client
	if ids := metadata.ValueFromIncomingContext(ctx, requestID); len(ids) > 0 {
		clientID = ids[0]
	}
	if err := grpc.SetHeader(ctx, metadata.Pairs(requestID, l.users.RequestID(clientID))); err != nil {
		return nil, err
	}
	return next(ctx, m)
}

func (l interceptors) addLog(log *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, m any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		l.receipts.Layer()
		start := time.Now()
		response, err := next(ctx, m)
		log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", info.FullMethod), slog.String("code", status.Code(err).String()), slog.Duration("took", time.Since(start)))
		return response, err
	}
}

func (l interceptors) recoverPanic(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
	l.receipts.Layer()
	defer func() {
		if v := recover(); v != nil {
			err = newStatus(fmt.Errorf("panic: %v", v))
		}
	}()
	return next(ctx, m)
}

func (l interceptors) limitRate(ctx context.Context, m any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	l.receipts.Layer()
	if !l.users.Allow() {
		return nil, newStatus(users.Limited())
	}
	return next(ctx, m)
}
