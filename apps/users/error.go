package users

import (
	"errors"
	"net/http"
)

// Code is a code of Connect for an error. gRPC has the same in upper case.
type Code string

// Codes of errors.
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

// Error is an error response. As JSON it is the body of a response over HTTP.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"` // one line

	status int   // over HTTP; 0 means that of the code
	cause  error // hidden from clients; may be nil
}

// Error returns code and message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause, which may be nil.
func (e *Error) Unwrap() error { return e.cause }

// HTTP returns the status over HTTP. It follows from the code, except for errors only over HTTP, such as a
// wrong method.
func (e *Error) HTTP() int {
	if e.status != 0 {
		return e.status
	}
	return e.Code.HTTP()
}

// Errors of repositories.
var (
	ErrNotFound   = errors.New("no such user")
	ErrEmailTaken = errors.New("the e-mail is taken")
)

// HTTP returns the status of a code, as the comments of google.rpc.Code define it.
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
		return 499 // client closed request, without a name in net/http
	case DeadlineExceeded:
		return http.StatusGatewayTimeout
	case Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError // Internal and others
}

// GRPC returns the number of the code in gRPC.
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
	return 13 // internal
}

// Codes returns all codes, in the order of the metrics.
func Codes() []Code {
	return []Code{InvalidArgument, NotFound, AlreadyExists, ResourceExhausted, Canceled, DeadlineExceeded, Unavailable, Internal}
}
