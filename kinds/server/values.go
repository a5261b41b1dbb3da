package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// How services of JSON are held against their references: bodies by what they
// say, refusals by their status and by naming an error.

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

// NamesError says why a refusal is not one as services of JSON write it: an
// object with a text error that is not empty.
func NamesError(_, got Response) string {
	if kind := got.Header[ContentType]; kind != TypeJSON {
		return fmt.Sprintf("status %d with content type %q, want %q", got.Status, kind, TypeJSON)
	}
	var body map[string]any
	if err := json.Unmarshal(got.Body, &body); err != nil {
		return fmt.Sprintf("status %d with the body %q, which is no object of JSON", got.Status, clip(string(got.Body)))
	}
	if name, _ := body["error"].(string); name == "" {
		return fmt.Sprintf("status %d with the body %q, which names no error", got.Status, clip(string(got.Body)))
	}
	return ""
}
