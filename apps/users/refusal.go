package users

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Limited returns the error of a request beyond the rate limit.
func Limited() error {
	return &Error{Code: ResourceExhausted, Message: "too many requests"}
}

// Malformed returns the error of a body that a decoder rejected with err. The client does not see err, whose
// text depends on the decoder. If err wraps an [*Error], Malformed returns err itself. If it wraps an
// [*http.MaxBytesError], Malformed returns [TooLarge].
func Malformed(err error) error {
	var known *Error
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &tooLong):
		return TooLarge()
	}
	return &Error{Code: InvalidArgument, Message: "body: not a user as JSON", cause: err}
}

// TooLarge returns the error of a body of more than [MaxBody] bytes.
func TooLarge() error {
	return &Error{Code: InvalidArgument, Message: fmt.Sprintf("body: at most %d bytes", MaxBody), status: http.StatusRequestEntityTooLarge}
}

// NoPath returns the error of an unknown path. Its message lists the known paths.
func NoPath() error {
	return &Error{Code: NotFound, Message: "nothing is at this path; there are POST and GET /v1/users, GET, PUT and DELETE /v1/users/{id}, and GET /health"}
}

// Refuse returns the body of an HTTP error response of the server itself, for an unknown path, for example.
// The message of 413 states the limit.
func Refuse(status int, message string) []byte {
	e := Error{Code: InvalidArgument, Message: message}
	switch status {
	case http.StatusRequestEntityTooLarge:
		e = *RefusalOf(TooLarge())
	case http.StatusUnauthorized:
		e.Code = "unauthenticated"
	case http.StatusNotFound:
		e.Code = NotFound
	case http.StatusRequestTimeout:
		e.Code = DeadlineExceeded
	case http.StatusServiceUnavailable:
		e.Code = Unavailable
	}
	body, _ := json.Marshal(&e) // marshaling strings cannot fail
	return body
}

// Methods returns the methods of a path over HTTP, as in the header Allow, or "".
func Methods(path string) string {
	id, hasID := strings.CutPrefix(path, "/v1/users/")
	switch {
	case path == "/health":
		return "GET"
	case path == "/v1/users":
		return "GET, POST"
	case hasID && id != "" && !strings.Contains(id, "/"):
		return "GET, PUT, DELETE"
	}
	return ""
}

// NotAllowed returns the error of a method that a known path does not support.
func NotAllowed() error {
	return &Error{Code: InvalidArgument, Message: "this path does not take this method", status: http.StatusMethodNotAllowed}
}

// RefusalOf returns the error response for err. An error of neither the API nor a [Repository] is a failure of
// the transport: clients get internal without details. nil stays nil.
func RefusalOf(err error) *Error {
	var e *Error
	var tooLong *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, ErrNotFound):
		return &Error{Code: NotFound, Message: ErrNotFound.Error()}
	case errors.Is(err, ErrEmailTaken):
		return &Error{Code: AlreadyExists, Message: ErrEmailTaken.Error()}
	case errors.Is(err, context.Canceled):
		return &Error{Code: Canceled, Message: "the caller has gone", cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: DeadlineExceeded, Message: "the caller's time is over", cause: err}
	case errors.As(err, &tooLong):
		return RefusalOf(TooLarge())
	}
	return &Error{Code: Internal, Message: "the service failed", cause: err}
}
