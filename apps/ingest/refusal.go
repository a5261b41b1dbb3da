package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Refusal is the error response of a request. It depends on the request and the
// configuration, never on the decoder of the body.
//
//	202 unsent              the batch is stored, but was not sent on in the time that the response waits for that
//	400 malformed           not a batch of records in the declared encoding; the message names the record, the field and the expected value
//	400 batch               no records in it, or too many
//	400 record              a record without an id or a timestamp, or one that cannot be written as JSON
//	401 unauthorized        no bearer token, or a wrong one; the response has WWW-Authenticate: Bearer
//	404 not_found           nothing is at this path
//	405 method_not_allowed  not the path's method; the response has Allow
//	408 timeout             the body came too slowly
//	413 too_large           the body is too long, as sent or unpacked
//	415 media_type          a media type or charset that the service does not accept
//	415 encoding            a content encoding other than gzip and identity
//	500 internal            a fault of the service
//	503 sink                the sink has not stored the batch; the response has Retry-After
//	*   other               rejected before it reached the service; the message names the reason
type Refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"error"`   // one word for machines, e.g. malformed
	Message string `json:"message"` // one line for people
}

// Statuses, by number: not every server that is measured links net/http.
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

// codes lists the error codes of this package in the order of the metrics. The last, other,
// counts every other code.
func codes() [14]string {
	return [...]string{
		"malformed", "batch", "record", "unauthorized", "not_found", "method_not_allowed", "timeout",
		"too_large", "media_type", "encoding", "internal", "sink", "unsent", "other",
	}
}

// Error returns code and message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// causedRefusal is a Refusal with its cause, which the client does not see.
type causedRefusal struct {
	Refusal
	cause error
}

func (r *causedRefusal) Error() string   { return r.Refusal.Error() + ": " + r.cause.Error() }
func (r *causedRefusal) Unwrap() []error { return []error{&r.Refusal, r.cause} }

// newRefusal returns a Refusal with its cause, which may be nil.
func newRefusal(cause error, status int, code, message string) error {
	r := Refusal{Status: status, Code: code, Message: message}
	if cause == nil {
		return &r
	}
	return &causedRefusal{r, cause}
}

// RefusalOf returns the error response for err, an error of any method of the service, and counts
// it. For an error without a Refusal the client sees only that the service is at fault.
func (s *Service) RefusalOf(err error) *Refusal {
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{internalError, "internal", "the service is at fault"}
	}
	all := codes()
	i := slices.Index(all[:], r.Code)
	if i < 0 {
		i = len(all) - 1
	}
	s.counts.refusals[i].Add(1)
	return r
}

// Refuse counts a request that the server rejected before it reached the service, for example
// because the path does not exist, and returns the body of the response.
func (s *Service) Refuse(status int, message string) []byte {
	code := "other"
	switch status {
	case tooLarge:
		code, message = "too_large", tooLongFor(s.maxBody)
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
	body, _ := json.Marshal(s.RefusalOf(&Refusal{status, code, message})) // strings always marshal
	return body
}

// Malformed returns the error response to a body, unpacked, that a decoder failed on with err. The client
// does not see err, because its text depends on the decoder, but this package's description of the
// fault. It returns a Refusal unchanged.
func (s *Service) Malformed(h Head, body []byte, err error) error {
	var r *Refusal
	if errors.As(err, &r) {
		return err
	}
	return newRefusal(err, badRequest, "malformed", s.describeFault(h, body))
}

// All transports use the same text for their own errors.

// NotFound returns the error response to an unknown path. Its message lists the known ones.
func NotFound() error {
	return newRefusal(nil, notFound, "not_found", "nothing is at this path; there are POST / and GET /health, /metrics and /openapi.json, which describes them")
}

// NotAllowed returns the error response to a method that a path does not have.
func NotAllowed() error {
	return newRefusal(nil, methodNotAllowed, "method_not_allowed", "this path does not take this method")
}

// TooSlow returns the error response to a body that did not come in time.
func TooSlow() error { return tooSlow(nil) }

func tooSlow(cause error) error {
	return newRefusal(cause, requestTimeout, "timeout", "the body did not come in time")
}

// TooLarge returns the error response to a body of more than [Service.MaxBody] bytes.
func (s *Service) TooLarge() error { return tooLargeError(s.maxBody) }

func tooLargeError(most int64) error {
	return newRefusal(nil, tooLarge, "too_large", tooLongFor(most))
}

func tooLongFor(most int64) string {
	return fmt.Sprintf("a body has at most %d bytes, as sent and unpacked", most)
}

func notGzip(cause error) error {
	return newRefusal(cause, badRequest, "malformed", "the body is not whole and sound gzip")
}

// badType returns the error response to a media type or charset, and names the accepted ones.
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
