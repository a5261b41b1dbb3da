package homelab

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Error responses of the API. A [Refusal] has a status, a code and a message.

// HTTP statuses. Some servers do not link net/http.
const (
	badRequest       = 400
	unauthorized     = 401
	forbidden        = 403
	notFound         = 404
	methodNotAllowed = 405
	requestTimeout   = 408
	tooLarge         = 413
	unsupportedType  = 415
	tooManyRequests  = 429
)

// MaxCommand is the largest size of the body of a command in bytes.
const MaxCommand = 64 << 10

// NotFound returns the error of an unknown path. Its message lists the known ones.
func NotFound() error {
	return &Refusal{Status: notFound, Code: "not_found", Message: "there is nothing at this path; there are GET /api/v1/, /api/v1/services, /api/v1/cluster/services, /api/v1/devices and /api/v1/devices/{id}, POST /api/v1/homeassistant/devices/{id}/command, " +
		"and GET /health, /metrics and /openapi.json, which describes them"}
}

// NotAllowed returns the error of a method that a known path does not support.
func NotAllowed() error {
	return &Refusal{Status: methodNotAllowed, Code: "method_not_allowed", Message: "this path does not take this method"}
}

// TooSlow returns the error of a body that did not arrive in time.
func TooSlow() error {
	return &Refusal{Status: requestTimeout, Code: "timeout", Message: "the body did not come in time"}
}

// TooLarge returns the error of a body of more than [MaxCommand] bytes.
func TooLarge() error {
	return &Refusal{Status: tooLarge, Code: "too_large", Message: fmt.Sprintf("a command has at most %d bytes", MaxCommand)}
}

// TooMany returns the error of a client that exceeds the rate limit.
func TooMany() error {
	return &Refusal{Status: tooManyRequests, Code: "too_many_requests", Message: "this client has sent too many requests; Retry-After is the time to wait"}
}

func notJSON(contentType string) error {
	return &Refusal{Status: unsupportedType, Code: "unsupported_media_type", Message: "a command is application/json, not " + quoteText(contentType)}
}

func crossSite(origin string) error {
	return &Refusal{Status: forbidden, Code: "cross_site", Message: "a page of " + quoteText(origin) + " may not send commands; origins that may are configured"}
}

// Malformed returns the error of a body that is not a command. err is the decoder's error or nil; if it wraps a
// [Refusal], Malformed returns err itself. Otherwise the client does not see err, whose text depends on the
// decoder.
func Malformed(err error) error {
	malformed := &Refusal{Status: badRequest, Code: "malformed", Message: "the body is not a command as JSON"}
	var refusal *Refusal
	switch {
	case err == nil:
		return malformed
	case errors.As(err, &refusal):
		return err
	}
	return fmt.Errorf("%w (%w)", malformed, err)
}

func unknownAction(action string) error {
	return &Refusal{Status: badRequest, Code: "unknown_action", Message: fmt.Sprintf("the action %s is none of turn_on, turn_off, toggle and set", quoteText(action))}
}

func tooManyAttributes() error {
	return &Refusal{Status: badRequest, Code: "too_many_attributes", Message: fmt.Sprintf("a device has at most %d attributes", maxAttributes)}
}

func noDevice(id string) error {
	return &Refusal{Status: notFound, Code: "unknown_device", Message: "there is no device " + quoteText(id)}
}

func readOnlyDevice(d Device) error {
	return &Refusal{Status: methodNotAllowed, Code: "read_only", Message: fmt.Sprintf("%s is a %s, which takes no commands", d.ID, d.Type)}
}

// quoteText quotes and shortens a client's text.
func quoteText(s string) string {
	const maxBytes = 80
	if len(s) > maxBytes {
		s = strings.ToValidUTF8(s[:maxBytes], "") + "…" // the cut may split a rune
	}
	return fmt.Sprintf("%q", s)
}

// Refuse returns the body of an error response of the server itself, for an unknown path, for example. It
// counts the response.
func (h *House) Refuse(status int, message string) []byte {
	code := "other"
	switch status {
	case tooLarge:
		code = "too_large"
	case badRequest:
		code = "malformed"
	case unauthorized:
		code = "unauthorized"
	case notFound:
		code = "not_found"
	case requestTimeout:
		code = "timeout"
	case unsupportedType:
		code = "unsupported_media_type"
	case methodNotAllowed:
		code = "method_not_allowed"
	}
	body, _ := json.Marshal(h.RefusalOf(&Refusal{Status: status, Code: code, Message: message})) // marshaling strings cannot fail
	h.Served(status)
	return body
}
