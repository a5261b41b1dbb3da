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

// Malformed returns the error of a body that a decoder failed on with err, or of one that is too
// long if that is the cause. The client does not see err, because its text depends on the decoder.
// It returns an [*Error] unchanged.
func Malformed(err error) error {
	var already *Error
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &already):
		return err
	case errors.As(err, &long):
		return TooLarge()
	}
	return &Error{Code: InvalidArgument, Message: "body: not a user as JSON", cause: err}
}

// TooLarge returns the error of a body of more than [MaxBody] bytes.
func TooLarge() error {
	return &Error{Code: InvalidArgument, Message: fmt.Sprintf("body: at most %d bytes", MaxBody), status: http.StatusRequestEntityTooLarge}
}

// NoPath returns the error of an unknown path. Its message lists the paths over HTTP.
func NoPath() error {
	return &Error{Code: NotFound, Message: "nothing is at this path; there are POST and GET /v1/users, GET, PUT and DELETE /v1/users/{id}, and GET /health"}
}

// Refuse returns the body of a response over HTTP that is sent before the service is called, for
// example without a token, or at an unknown path.
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
	body, _ := json.Marshal(&e) // texts always can be
	return body
}

// Methods returns the methods that a path takes over HTTP, as the header Allow has them,
// or "" if the service has no such path.
func Methods(path string) string {
	id, one := strings.CutPrefix(path, "/v1/users/")
	switch {
	case path == "/health":
		return "GET"
	case path == "/v1/users":
		return "GET, POST"
	case one && id != "" && !strings.Contains(id, "/"):
		return "GET, PUT, DELETE"
	}
	return ""
}

// NotAllowed returns the error of a method that a path does not have.
func NotAllowed() error {
	return &Error{Code: InvalidArgument, Message: "this path does not take this method", status: http.StatusMethodNotAllowed}
}

// RefusalOf returns the error response for err; nil for nil. An error that is neither an [*Error]
// nor one of a [Repository] is the fault of the transport, such as a panic that was recovered, of
// which the client sees no details.
func RefusalOf(err error) *Error {
	var e *Error
	var long *http.MaxBytesError
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
	case errors.As(err, &long):
		return RefusalOf(TooLarge())
	}
	return &Error{Code: Internal, Message: "the service failed", cause: err}
}
