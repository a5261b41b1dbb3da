package homelab

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Statuses, by number: not every server that is measured links net/http.
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

// All transports use the same text for their errors.

// NotFound returns the error of an unknown path. Its message lists the known ones.
func NotFound() error {
	return &Refusal{notFound, "not_found", "there is nothing at this path; there are GET /api/v1/, /api/v1/services, /api/v1/cluster/services, /api/v1/devices and /api/v1/devices/{id}, POST /api/v1/homeassistant/devices/{id}/command, " +
		"and GET /health, /metrics and /openapi.json, which describes them"}
}

// NotAllowed returns the error of a method that a path does not have.
func NotAllowed() error {
	return &Refusal{methodNotAllowed, "method_not_allowed", "this path does not take this method"}
}

// TooSlow returns the error of a command that did not come in time.
func TooSlow() error {
	return &Refusal{requestTimeout, "timeout", "the body did not come in time"}
}

// TooLarge returns the error of a command of more than [MaxCommand] bytes.
func TooLarge() error {
	return &Refusal{tooLarge, "too_large", fmt.Sprintf("a command has at most %d bytes", MaxCommand)}
}

// TooMany returns the error of a client without tokens.
func TooMany() error {
	return &Refusal{tooManyRequests, "too_many_requests", "this client has asked too often; Retry-After says when to ask again"}
}

func notJSON(contentType string) error {
	return &Refusal{unsupportedType, "unsupported_media_type", "a command is application/json, not " + quoteText(contentType)}
}

func crossSite(origin string) error {
	return &Refusal{forbidden, "cross_site", "a page of " + quoteText(origin) + " may not send commands; origins that may are configured"}
}

// Malformed returns the error of an invalid body, or err itself if that is a [Refusal] already. The
// response does not contain err: its text depends on the decoder.
func Malformed(err error) error {
	malformed := &Refusal{badRequest, "malformed", "the body is not a command as JSON"}
	var already *Refusal
	switch {
	case err == nil:
		return malformed
	case errors.As(err, &already):
		return err
	}
	return fmt.Errorf("%w (%w)", malformed, err)
}

func unknownAction(action string) error {
	return &Refusal{badRequest, "unknown_action", fmt.Sprintf("the action %s is none of turn_on, turn_off, toggle and set", quoteText(action))}
}

func tooManyAttributes() error {
	return &Refusal{badRequest, "too_many_attributes", fmt.Sprintf("a device has at most %d attributes", maxAttributes)}
}

func noDevice(id string) error {
	return &Refusal{notFound, "unknown_device", "there is no device " + quoteText(id)}
}

func readOnlyDevice(d Device) error {
	return &Refusal{methodNotAllowed, "read_only", fmt.Sprintf("%s is a %s, which takes no commands", d.ID, d.Type)}
}

// quoteText returns a client's text as a part of a message.
func quoteText(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Refuse returns the body of a response that is sent before the house is called, for example
// without a token, or at an unknown path. It counts it.
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
	body, _ := json.Marshal(h.RefusalOf(&Refusal{status, code, message})) // texts always can be
	h.Served(status)
	return body
}
