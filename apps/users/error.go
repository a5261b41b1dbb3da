package users

import (
	"errors"
	"net/http"
)

// Code is why something was refused, in the words of Connect; gRPC's codes are
// the same in capitals.
type Code string

// Codes.
const (
	InvalidArgument   Code = "invalid_argument"
	NotFound          Code = "not_found"
	AlreadyExists     Code = "already_exists"
	ResourceExhausted Code = "resource_exhausted"
	Canceled          Code = "canceled"
	DeadlineExceeded  Code = "deadline_exceeded"
	Unavailable       Code = "unavailable" // the store failed
	Internal          Code = "internal"
)

// Error is a refusal. As JSON it is the body of an HTTP face's answer.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"` // one line

	status int   // over HTTP, where it is not that of the code; zero: it is
	cause  error // what led to it, which clients are not told; nil: nothing did
}

// Error is code and message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap is what led to it; nil: nothing did.
func (e *Error) Unwrap() error { return e.cause }

// HTTP is the status of the answer over HTTP: that of the code, but for what only
// HTTP refuses.
func (e *Error) HTTP() int {
	if e.status != 0 {
		return e.status
	}
	return e.Code.HTTP()
}

// What repositories refuse.
var (
	ErrNotFound   = errors.New("no such user")
	ErrEmailTaken = errors.New("the e-mail is taken")
)

// HTTP is the status that goes with a code: that of google.rpc.Code.
func (c Code) HTTP() int {
	switch c {
	case InvalidArgument:
		return http.StatusBadRequest
	case NotFound:
		return http.StatusNotFound
	case AlreadyExists:
		return http.StatusConflict
	case ResourceExhausted:
		return http.StatusTooManyRequests
	case Canceled:
		return 499
	case DeadlineExceeded:
		return http.StatusGatewayTimeout
	case Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// GRPC is the number of the code in gRPC.
func (c Code) GRPC() int {
	switch c {
	case Canceled:
		return 1
	case InvalidArgument:
		return 3
	case DeadlineExceeded:
		return 4
	case NotFound:
		return 5
	case AlreadyExists:
		return 6
	case ResourceExhausted:
		return 8
	case Unavailable:
		return 14
	}
	return 13
}

// Codes are all codes.
func Codes() []Code {
	return []Code{InvalidArgument, NotFound, AlreadyExists, ResourceExhausted, Canceled, DeadlineExceeded, Unavailable, Internal}
}
