package face

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

// countBodies counts requests and their bodies, and rejects bodies that are too long. It is the gateway's own
// kind of middleware, called after the path is found.
func countBodies(receipts *server.Receipts) runtime.Middleware {
	return func(next runtime.HandlerFunc) runtime.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request, path map[string]string) {
			receipts.Request()
			switch {
			case r.ContentLength > users.MaxBody:
				writeAnswer(w, users.RefusalOf(users.TooLarge()))
				return
			case r.ContentLength == 0:
				next(w, r, path)
				return
			}
			body := &countedBody{ReadCloser: http.MaxBytesReader(w, r.Body, users.MaxBody)}
			r.Body = body
			next(w, r, path)
			if body.n != r.ContentLength {
				_, _ = io.Copy(io.Discard, body) // discards bytes after the first value
			}
			receipts.Body(body.n)
		}
	}
}

// countedBody counts the bytes of a body, and stores the error at its end.
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

// setCreated answers 201 where it would be 200.
func setCreated(ctx context.Context, w http.ResponseWriter, _ proto.Message) error {
	if method, ok := runtime.RPCMethod(ctx); ok && method == stub.UserService_CreateUser_FullMethodName {
		w.WriteHeader(http.StatusCreated)
	}
	return nil
}

// writeStatus answers with the error of a status of gRPC.
func writeStatus(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	if body, ok := r.Body.(*countedBody); ok && body.tooLong() {
		err = users.TooLarge()
	} else {
		err = readError(err)
	}
	writeAnswer(w, users.RefusalOf(err))
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

// writeNoRoute answers if the gateway has no path or no method for a request.
func writeNoRoute(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, code int) {
	err := users.NoPath()
	if code == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", users.Methods(r.URL.Path))
		err = users.NotAllowed()
	}
	writeAnswer(w, users.RefusalOf(err))
}

func writeAnswer(w http.ResponseWriter, e *users.Error) {
	body, err := json.Marshal(e)
	if err != nil {
		panic(err) // two strings always encode
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.HTTP())
	_, _ = w.Write(body) // the client has disconnected
}
