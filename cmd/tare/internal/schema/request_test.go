package schema

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/traffic"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load"
)

// What --dry-run --json prints is what the schema of a line describes, and each field of a
// line is described.
func TestRequestLinesAreValid(t *testing.T) {
	s := compile(t, "request.schema.json")
	for _, q := range []load.Request{
		{Method: "GET", Path: "/"},
		{Method: "OPTIONS", Path: "*"},
		{Method: "POST", Path: "//a?b=%20", Header: [][2]string{{"A", "b"}, {"A", "c"}}, Body: []byte{0, 0xff}},
	} {
		var line bytes.Buffer
		if err := traffic.WriteLine(&line, q); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(decode(t, line.Bytes())); err != nil {
			t.Errorf("%s: %v", line.Bytes(), err)
		}
	}
	for _, line := range []string{`{}`, `{"path":"a"}`, `{"path":"/a b"}`, `{"path":"/pricing","ts":1}`, `{"path":"/","header":{"a":1}}`} {
		if s.Validate(decode(t, []byte(line))) == nil {
			t.Errorf("%s is valid", line)
		}
	}
	described := decode(t, read(t, "request.schema.json")).(map[string]any)["properties"].(map[string]any)
	fields := reflect.VisibleFields(reflect.TypeFor[wire.HTTPRequest]())
	for _, f := range fields {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); described[name] == nil {
			t.Errorf("%s is not described", name)
		}
	}
	if len(fields) != len(described) {
		t.Errorf("%d fields, %d are described", len(fields), len(described))
	}
}
