package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Refusal is why a request is not served, as its answer says it. What it says
// depends on the request and the configuration, never on whose decoder read
// the body.
//
//	202 unsent              the batch is kept, but was not sent on in the time that the answer waits for that
//	400 malformed           not a batch of records in the encoding it is said to be in; the message says which record, which field, and what is expected
//	400 batch               no records in it, or too many
//	400 record              a record without an id or a timestamp, or one that cannot be written as JSON
//	401 unauthorized        no bearer token, or a wrong one; the answer has WWW-Authenticate: Bearer
//	404 not_found           nothing is at this path
//	405 method_not_allowed  not the path's method; the answer has Allow
//	408 timeout             the body came too slowly
//	413 too_large           the body is too long, as sent or unpacked
//	415 media_type          a media type or charset that is not taken here
//	415 encoding            a content encoding other than gzip and identity
//	500 internal            the service is at fault
//	503 sink                the sink has not taken the batch; the answer has Retry-After
//	*   other               refused in front of the service, by what the message says
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

// codes lists the codes of this package's refusals in the order of the metrics.
// The last, other, counts every other code.
func codes() [14]string {
	return [...]string{
		"malformed", "batch", "record", "unauthorized", "not_found", "method_not_allowed", "timeout",
		"too_large", "media_type", "encoding", "internal", "sink", "unsent", "other",
	}
}

// Error is code and message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// refusal is a Refusal with what led to it, which the client is not told.
type refusal struct {
	Refusal
	cause error
}

func (r *refusal) Error() string   { return r.Refusal.Error() + ": " + r.cause.Error() }
func (r *refusal) Unwrap() []error { return []error{&r.Refusal, r.cause} }

// because is a Refusal with what led to it; nil: nothing did.
func because(cause error, status int, code, message string) error {
	r := Refusal{Status: status, Code: code, Message: message}
	if cause == nil {
		return &r
	}
	return &refusal{r, cause}
}

// RefusalOf returns the refusal to send for err, an error of any method of the
// service, and counts it. An error that is no refusal is the service's own fault,
// and the answer to the client says only that.
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

// Refuse counts a request that the server rejected before it reached the service, for
// example because the path does not exist, and returns the body of the answer.
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

// Malformed is the refusal of a body, unpacked, that a decoder failed on with err.
// The client is not told what err says, because each decoder has words of its
// own, but what is wrong with the body in the words of this package. A refusal
// stays what it is.
func (s *Service) Malformed(h Head, body []byte, err error) error {
	var r *Refusal
	if errors.As(err, &r) {
		return err
	}
	return because(err, badRequest, "malformed", s.fault(h, body))
}

// What the transport refuses has one wording too.

// NotFound is the refusal of an unknown path. Its message lists the known ones.
func NotFound() error {
	return because(nil, notFound, "not_found", "nothing is at this path; there are POST / and GET /health, /metrics and /openapi.json, which describes them")
}

// NotAllowed is the refusal of a method that a path does not have.
func NotAllowed() error {
	return because(nil, methodNotAllowed, "method_not_allowed", "this path does not take this method")
}

// TooSlow is the refusal of a body that did not come in time.
func TooSlow() error { return tooSlow(nil) }

func tooSlow(cause error) error {
	return because(cause, requestTimeout, "timeout", "the body did not come in time")
}

// TooLarge is the refusal of a body of more than [Service.MaxBody] bytes.
func (s *Service) TooLarge() error { return overlong(s.maxBody) }

func overlong(most int64) error {
	return because(nil, tooLarge, "too_large", tooLongFor(most))
}

func tooLongFor(most int64) string {
	return fmt.Sprintf("a body has at most %d bytes, as sent and unpacked", most)
}

func notGzip(cause error) error {
	return because(cause, badRequest, "malformed", "the body is not whole and sound gzip")
}

// badType refuses a media type or charset, and names those that are taken.
func badType(formats []Format) error {
	names := []string{string(JSON)}
	if len(formats) > 0 {
		names = nil
		for _, f := range formats {
			names = append(names, string(f))
		}
		slices.Sort(names)
	}
	return because(nil, unsupportedMediaType, "media_type", "a body is "+strings.Join(names, " or ")+", and text in it UTF-8")
}

func badEncoding() error {
	return because(nil, unsupportedMediaType, "encoding", "a body is sent as it is or in gzip")
}
