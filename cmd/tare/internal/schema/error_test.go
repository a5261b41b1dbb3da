package schema

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/kinds/router"
)

const errorSchema = "error.schema.json"

// TestErrorsAreValid writes errors as commands do. Those of the command's scripts are in
// package cli.
func TestErrorsAreValid(t *testing.T) {
	s := compile(t, errorSchema)
	for name, err := range map[string]error{
		"failure":            errors.New("disk\non fire"),
		"usage":              cmdenv.Usage("a", "b", "tare list"),
		"a place":            &studyfile.Error{File: "f", Line: 3, Col: 4, What: "wrong"},
		"a place of a usage": cmdenv.UsageOf(&codec.SyntaxError{File: "f", Line: 3, Col: 4, What: "wrong"}, ""),
		"a list":             cmdenv.UsageOf(&router.ListError{File: "f", Line: 3, Col: 4, What: "wrong"}, ""),
	} {
		var line strings.Builder
		if err := cmdenv.WriteError(&line, "tare run", err); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(decode(t, []byte(line.String()))); err != nil {
			t.Errorf("%s: %s: %v", name, line.String(), err)
		}
		if at := `"file":"f","line":3,"col":4`; strings.HasPrefix(name, "a ") && !strings.Contains(line.String(), at) {
			t.Errorf("%s: %s has no place", name, line.String())
		}
	}
	for _, text := range []string{`{}`, `{"error":{}}`, `{"error":{"code":"bad","exit_code":2,"message":"x","next":[]}}`,
		`{"error":{"code":"usage","exit_code":2,"message":"x\ny","next":[]}}`, `{"error":{"code":"usage","exit_code":2,"message":"x","line":1,"next":[]}}`} {
		if s.Validate(decode(t, []byte(text))) == nil {
			t.Errorf("%s is valid", text)
		}
	}
}

// TestErrorSchemaIsTheCode compares the codes, exit codes and fields of the schema with
// those of the code.
func TestErrorSchemaIsTheCode(t *testing.T) {
	described := decode(t, read(t, errorSchema)).(map[string]any)["properties"].(map[string]any)["error"].(map[string]any)["properties"].(map[string]any)
	var names []any
	for _, exit := range cmdenv.Exits() {
		for _, kind := range exit.Errors {
			names = append(names, kind.Name)
		}
	}
	slices.SortFunc(names, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	if got := described["code"].(map[string]any)["enum"]; !reflect.DeepEqual(got, names) {
		t.Errorf("codes %v, want %v", got, names)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[cmdenv.ErrorBody]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && described[name] == nil {
			t.Errorf("%s is not described", name)
		}
	}
}
