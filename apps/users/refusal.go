package users

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Limited is the refusal of a request beyond the rate limit.
func Limited() error {
	return &Error{Code: ResourceExhausted, Message: "too many requests"}
}

// Malformed is the refusal of a body that a decoder failed on with err, or of one
// that is too long where that is why. The client is not told what err says, because
// each decoder has words of its own. A refusal stays what it is.
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

// TooLarge is the refusal of a body of more than [MaxBody] bytes.
func TooLarge() error {
	return &Error{Code: InvalidArgument, Message: fmt.Sprintf("body: at most %d bytes", MaxBody), status: http.StatusRequestEntityTooLarge}
}

// NoPath is the refusal of a path that is none of the service's. It says which
// are, over HTTP.
func NoPath() error {
	return &Error{Code: NotFound, Message: "nothing is at this path; there are POST and GET /v1/users, GET, PUT and DELETE /v1/users/{id}, and GET /health"}
}

// Refuse is the body of an answer over HTTP that is given in front of the service, for
// example without a token, or at a path that is none.
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

// NotAllowed is the refusal of a method that a path does not have.
func NotAllowed() error {
	return &Error{Code: InvalidArgument, Message: "this path does not take this method", status: http.StatusMethodNotAllowed}
}

// RefusalOf is what err says to a client; nil for nil. An error that is no refusal
// and none of a [Repository] is the fault of whoever asks, such as a panic that was
// recovered, of which the client is told nothing more.
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
