package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// JSON services are compared with their references: bodies by value, error
// responses by their status and by having an error member.

// SameJSON reports whether two bodies are JSON and mean the same. Numbers are
// compared as float64: none that is answered needs more.
func SameJSON(want, got []byte) bool {
	if bytes.Equal(want, got) {
		return true
	}
	var x, y any
	if json.Unmarshal(want, &x) != nil || json.Unmarshal(got, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

// NamesError returns why an error response is not a JSON object with a non-empty
// string member "error"; it is empty if the response is one.
func NamesError(_, got Response) string {
	if kind := got.Header[ContentType]; kind != TypeJSON {
		return fmt.Sprintf("status %d with content type %q, want %q", got.Status, kind, TypeJSON)
	}
	var body map[string]any
	if err := json.Unmarshal(got.Body, &body); err != nil {
		return fmt.Sprintf("status %d with the body %q, which is no object of JSON", got.Status, clipText(string(got.Body)))
	}
	if name, _ := body["error"].(string); name == "" {
		return fmt.Sprintf("status %d with the body %q, which names no error", got.Status, clipText(string(got.Body)))
	}
	return ""
}
