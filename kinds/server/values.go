package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// SameJSON is an [App.Same] for services with JSON. It reports whether two bodies have the same
// bytes, or the same value with numbers as float64.
func SameJSON(want, got []byte) bool {
	if bytes.Equal(want, got) {
		return true
	}
	var wantValue, gotValue any
	if json.Unmarshal(want, &wantValue) != nil || json.Unmarshal(got, &gotValue) != nil {
		return false
	}
	return reflect.DeepEqual(wantValue, gotValue)
}

// NamesError is an [App.Refuses] for services with JSON. It returns why an error response is not an
// object with a non-empty string "error", or "".
func NamesError(_, got Response) string {
	if contentType := got.Header[ContentType]; contentType != TypeJSON {
		return fmt.Sprintf("status %d with content type %q, want %q", got.Status, contentType, TypeJSON)
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
