package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Refusal is an error that the client sees. It does not depend on the decoder of the body.
//
//	202 unsent              stored, but not sent within Config.Wait
//	400 malformed           not a batch of records in the declared encoding
//	400 batch               no records, or too many
//	400 record              no valid id or timestamp, or not possible in JSON
//	401 unauthorized        no bearer token, or a wrong one; with WWW-Authenticate: Bearer
//	404 not_found           nothing is at this path
//	405 method_not_allowed  the path does not support the method; with Allow
//	408 timeout             the body did not arrive in time
//	413 too_large           the body is too long, as sent or unpacked
//	415 media_type          a media type or charset that is not accepted
//	415 encoding            a content encoding other than gzip and identity
//	500 internal            a fault of the service
//	503 sink                the sink has not stored the batch; with Retry-After
//	*   other               rejected before it reached the service
type Refusal struct {
	Status  int    `json:"-"`       // HTTP status
	Code    string `json:"error"`   // one word for machines, e.g. malformed
	Message string `json:"message"` // one line for people
}

// HTTP statuses. Some measured servers do not link net/http.
const (
	accepted             = 202
	badRequest           = 400
	unauthorized         = 401
	notFound             = 404
	methodNotAllowed     = 405
	requestTimeout       = 408
	tooLarge             = 413
	unsupportedMediaType = 415
	internalError        = 500
	unavailable          = 503
)

// codes returns the error codes in the order of the metrics. The code other stands for all the rest.
func codes() [14]string {
	return [...]string{
		"malformed", "batch", "record", "unauthorized", "not_found", "method_not_allowed", "timeout",
		"too_large", "media_type", "encoding", "internal", "sink", "unsent", "other",
	}
}

// Error returns code and message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

type causedRefusal struct {
	Refusal
	cause error
}

func (r *causedRefusal) Error() string   { return r.Refusal.Error() + ": " + r.cause.Error() }
func (r *causedRefusal) Unwrap() []error { return []error{&r.Refusal, r.cause} }

func newRefusal(cause error, status int, code, message string) error {
	r := Refusal{Status: status, Code: code, Message: message}
	if cause == nil {
		return &r
	}
	return &causedRefusal{Refusal: r, cause: cause}
}

// RefusalOf returns the error response for err and counts it. An error without a Refusal is a failure of the
// service: status 500 without details.
func (s *Service) RefusalOf(err error) *Refusal {
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{Status: internalError, Code: "internal", Message: "the service is at fault"}
	}
	all := codes()
	i := slices.Index(all[:], r.Code)
	if i < 0 {
		i = len(all) - 1
	}
	s.counts.refusals[i].Add(1)
	return r
}

// Refuse returns the body of the server's own error response, for an unknown path, for example. It counts the
// response.
func (s *Service) Refuse(status int, message string) []byte {
	code := "other"
	switch status {
	case tooLarge:
		code, message = "too_large", tooLargeMessage(s.maxBody)
	case badRequest:
		code = "malformed"
	case unauthorized:
		code = "unauthorized"
	case notFound:
		code = "not_found"
	case requestTimeout:
		code = "timeout"
	case unsupportedMediaType:
		code = "media_type"
	case methodNotAllowed:
		code = "method_not_allowed"
	}
	body, _ := json.Marshal(s.RefusalOf(&Refusal{Status: status, Code: code, Message: message})) // marshaling strings cannot fail
	return body
}

// Malformed returns the error for a body that a decoder rejected with err. The client sees a description of
// the fault, not err, which depends on the decoder. A Refusal in err stays. body may be nil.
func (s *Service) Malformed(h Head, body []byte, err error) error {
	var r *Refusal
	if errors.As(err, &r) {
		return err
	}
	return newRefusal(err, badRequest, "malformed", s.describeFault(h, body))
}

// NotFound returns the error of an unknown path. Its message lists the known paths.
func NotFound() error {
	return newRefusal(nil, notFound, "not_found", "nothing is at this path; there are POST / and GET /health, /metrics and /openapi.json, which describes them")
}

// NotAllowed returns the error of a method that a known path does not support.
func NotAllowed() error {
	return newRefusal(nil, methodNotAllowed, "method_not_allowed", "this path does not take this method")
}

// TooSlow returns the error of a body that did not arrive in time.
func TooSlow() error { return tooSlow(nil) }

func tooSlow(cause error) error {
	return newRefusal(cause, requestTimeout, "timeout", "the body did not come in time")
}

// TooLarge returns the error of a body of more than [Service.MaxBody] bytes.
func (s *Service) TooLarge() error { return tooLargeError(s.maxBody) }

func tooLargeError(maxBody int64) error {
	return newRefusal(nil, tooLarge, "too_large", tooLargeMessage(maxBody))
}

func tooLargeMessage(maxBody int64) string {
	return fmt.Sprintf("a body has at most %d bytes, as sent and unpacked", maxBody)
}

func notGzip(cause error) error {
	return newRefusal(cause, badRequest, "malformed", "the body is not whole and sound gzip")
}

func badType(formats []Format) error {
	names := []string{string(JSON)}
	if len(formats) > 0 {
		names = nil
		for _, f := range formats {
			names = append(names, string(f))
		}
		slices.Sort(names)
	}
	return newRefusal(nil, unsupportedMediaType, "media_type", "a body is "+strings.Join(names, " or ")+", and text in it UTF-8")
}

func badEncoding() error {
	return newRefusal(nil, unsupportedMediaType, "encoding", "a body is sent as it is or in gzip")
}
