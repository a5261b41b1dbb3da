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

// receive counts requests and their bodies, and refuses bodies that are too long.
// It is the gateway's own kind of middleware, called when a path is found.
func receive(receipts *server.Receipts) runtime.Middleware {
	return func(next runtime.HandlerFunc) runtime.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request, path map[string]string) {
			receipts.Request()
			switch {
			case r.ContentLength > users.MaxBody:
				answer(w, users.RefusalOf(users.TooLarge()))
				return
			case r.ContentLength == 0:
				next(w, r, path)
				return
			}
			body := &counted{ReadCloser: http.MaxBytesReader(w, r.Body, users.MaxBody)}
			r.Body = body
			next(w, r, path)
			if body.n != r.ContentLength {
				_, _ = io.Copy(io.Discard, body) // what follows the first value
			}
			receipts.Body(body.n)
		}
	}
}

// counted counts the bytes of a body, and remembers why there are no more.
type counted struct {
	io.ReadCloser
	n   int64
	err error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}

// tooLong reports whether there were more bytes than are let through.
func (c *counted) tooLong() bool {
	var limit *http.MaxBytesError
	return errors.As(c.err, &limit)
}

// created answers 201 where it would be 200.
func created(ctx context.Context, w http.ResponseWriter, _ proto.Message) error {
	if method, ok := runtime.RPCMethod(ctx); ok && method == stub.UserService_CreateUser_FullMethodName {
		w.WriteHeader(http.StatusCreated)
	}
	return nil
}

// refuse answers with what a status of gRPC means.
func refuse(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	if body, ok := r.Body.(*counted); ok && body.tooLong() {
		err = users.TooLarge()
	} else {
		err = refused(err)
	}
	answer(w, users.RefusalOf(err))
}

// refused is the refusal that a status stands for.
func refused(err error) error {
	s := status.Convert(err)
	for _, code := range users.Codes() {
		if codes.Code(code.GRPC()) == s.Code() {
			return &users.Error{Code: code, Message: s.Message()}
		}
	}
	return err
}

// astray answers where the gateway has no path or no method for a request.
func astray(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, code int) {
	err := users.NoPath()
	if code == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", users.Methods(r.URL.Path))
		err = users.NotAllowed()
	}
	answer(w, users.RefusalOf(err))
}

func answer(w http.ResponseWriter, e *users.Error) {
	body, err := json.Marshal(e)
	if err != nil {
		panic(err) // two strings always can be
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.HTTP())
	_, _ = w.Write(body) // the client has gone
}
