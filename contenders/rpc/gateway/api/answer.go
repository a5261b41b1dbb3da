package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/gateway/stub"
)

// countBodies returns a middleware that counts requests and the bytes of their bodies. It rejects bodies
// that are too long. The gateway calls it only for known paths.
func countBodies(receipts *server.Receipts) runtime.Middleware {
	return func(next runtime.HandlerFunc) runtime.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request, params map[string]string) {
			receipts.Request()
			switch {
			case r.ContentLength > users.MaxBody:
				writeError(w, users.RefusalOf(users.TooLarge()))
				return
			case r.ContentLength == 0: // no body to count
				next(w, r, params)
				return
			}
			body := &countedBody{ReadCloser: http.MaxBytesReader(w, r.Body, users.MaxBody)}
			r.Body = body
			next(w, r, params)
			if body.n != r.ContentLength {
				_, _ = io.Copy(io.Discard, body) // the gateway stops after the first JSON value
			}
			receipts.Body(body.n)
		}
	}
}

// countedBody counts the bytes of a body, and stores the last error of Read for tooLong.
type countedBody struct {
	io.ReadCloser
	n   int64
	err error
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}

// tooLong reports whether the body was longer than the limit.
func (c *countedBody) tooLong() bool {
	var limit *http.MaxBytesError
	return errors.As(c.err, &limit)
}

// setCreated sets status 201 for CreateUser. The gateway would send 200.
func setCreated(ctx context.Context, w http.ResponseWriter, _ proto.Message) error {
	if method, ok := runtime.RPCMethod(ctx); ok && method == stub.UserService_CreateUser_FullMethodName {
		w.WriteHeader(http.StatusCreated)
	}
	return nil
}

// writeStatus responds with the error that a gRPC status contains.
func writeStatus(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	if body, ok := r.Body.(*countedBody); ok && body.tooLong() {
		err = users.TooLarge()
	} else {
		err = readError(err)
	}
	writeError(w, users.RefusalOf(err))
}

// readError returns the error of the service that a status contains.
func readError(err error) error {
	s := status.Convert(err)
	for _, code := range users.Codes() {
		if codes.Code(code.GRPC()) == s.Code() {
			return &users.Error{Code: code, Message: s.Message()}
		}
	}
	return err
}

// writeNoRoute responds to an unknown path or method.
func writeNoRoute(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, code int) {
	err := users.NoPath()
	if code == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", users.Methods(r.URL.Path))
		err = users.NotAllowed()
	}
	writeError(w, users.RefusalOf(err))
}

func writeError(w http.ResponseWriter, e *users.Error) {
	body, err := json.Marshal(e)
	if err != nil {
		panic(err) // two strings always encode
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.HTTP())
	_, _ = w.Write(body) // fails if the client has disconnected
}
