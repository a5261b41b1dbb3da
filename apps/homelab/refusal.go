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

// MaxCommand is how many bytes the body of a command may have.
const MaxCommand = 64 << 10

// What is refused by the transport has one wording too.

// NotFound is the refusal of a path that is none of the service's. It says which
// are.
func NotFound() error {
	return &Refusal{notFound, "not_found", "there is nothing at this path; there are GET /api/v1/, /api/v1/services, /api/v1/cluster/services, /api/v1/devices and /api/v1/devices/{id}, POST /api/v1/homeassistant/devices/{id}/command, " +
		"and GET /health, /metrics and /openapi.json, which describes them"}
}

// NotAllowed is the refusal of a method that a path does not have.
func NotAllowed() error {
	return &Refusal{methodNotAllowed, "method_not_allowed", "this path does not take this method"}
}

// TooSlow is the refusal of a command that did not come in time.
func TooSlow() error {
	return &Refusal{requestTimeout, "timeout", "the body did not come in time"}
}

// TooLarge is the refusal of a command of more than [MaxCommand] bytes.
func TooLarge() error {
	return &Refusal{tooLarge, "too_large", fmt.Sprintf("a command has at most %d bytes", MaxCommand)}
}

// TooMany is the refusal of a client without tokens.
func TooMany() error {
	return &Refusal{tooManyRequests, "too_many_requests", "this client has asked too often; Retry-After says when to ask again"}
}

func notJSON(contentType string) error {
	return &Refusal{unsupportedType, "unsupported_media_type", "a command is application/json, not " + quoted(contentType)}
}

func crossSite(origin string) error {
	return &Refusal{forbidden, "cross_site", "a page of " + quoted(origin) + " may not send commands; origins that may are configured"}
}

// Malformed is the refusal of a body that is not what it should be, or err
// itself where that is a refusal already. The answer does not carry what err
// says: each decoder has words of its own.
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
	return &Refusal{badRequest, "unknown_action", fmt.Sprintf("the action %s is none of turn_on, turn_off, toggle and set", quoted(action))}
}

func tooManyAttributes() error {
	return &Refusal{badRequest, "too_many_attributes", fmt.Sprintf("a device has at most %d attributes", maxAttributes)}
}

func noDevice(id string) error {
	return &Refusal{notFound, "unknown_device", "there is no device " + quoted(id)}
}

func readOnlyDevice(d Device) error {
	return &Refusal{methodNotAllowed, "read_only", fmt.Sprintf("%s is a %s, which takes no commands", d.ID, d.Type)}
}

// quoted is what somebody sent, as a part of a message.
func quoted(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Refuse is the body of an answer that is given in front of the house, for example
// without a token, or at a path that is none. It counts it.
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
