// Package history reads what runs leave behind: result documents, and the
// directory in which tare keeps them.
package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/footprint"
	"github.com/tarebench/tare/internal/format"
)

// ResultName is the result's file name in a run's directory.
const ResultName = "result.json"

// MaxBytes is how large a file of results may be.
const MaxBytes = 256 << 20

// Error says which file is no result that can be read, and why.
type Error struct {
	File string
	Line int // from 1; 0: it is not about one place
	Col  int // characters, from 1
	What string
	Hint string // what would be right; may be empty
}

// Error is one line: file:line:col: what; hint.
func (e *Error) Error() string {
	s := e.File + ": " + e.What
	if e.Line > 0 {
		s = fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.What)
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// File reads the results in a file: one document, or a list of them. Errors of
// the operating system come as they are, all others are an [*Error].
func File(path string) ([]*tare.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return From(path, f)
}

// From is File for a stream; name stands in errors.
func From(name string, in io.Reader) ([]*tare.Result, error) { return from(name, in, MaxBytes) }

func from(name string, in io.Reader, most int64) ([]*tare.Result, error) {
	src, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(src)) > most {
		return nil, &Error{File: name, What: fmt.Sprintf("larger than %d MiB", most>>20), Hint: "a result is far smaller; name the " + ResultName + " of a run"}
	}
	return Parse(name, src)
}

// head is what every document of ours begins with.
type head struct {
	Schema *string `json:"schema"`
}

// Parse reads one result document, or a list of them, of the schema this tare
// writes. Fields it does not know are passed over: the schema grows by
// addition. An error is an [*Error].
func Parse(name string, src []byte) ([]*tare.Result, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	text := bytes.TrimSpace(src)
	switch {
	case len(text) == 0:
		return nil, &Error{File: name, What: "empty", Hint: "a result is a JSON document, as tare run --json prints it"}
	case bytes.HasPrefix(text, []byte(`{"head":{"format":"tare.journal/`)):
		return nil, &Error{File: name, What: "a run's journal, not its result", Hint: "name the " + ResultName + " beside it"}
	}
	var whole json.RawMessage
	if err := json.Unmarshal(src, &whole); err != nil {
		return nil, syntax(name, src, err)
	}
	if err := fits(name, src); err != nil {
		return nil, err
	}
	var heads []*head
	var results []*tare.Result
	if text[0] == '[' {
		if err := json.Unmarshal(src, &heads); err != nil {
			return nil, mistyped(name, src, err)
		}
		if len(heads) == 0 {
			return nil, &Error{File: name, What: "an empty list of results"}
		}
	} else {
		heads = []*head{{}}
		if err := json.Unmarshal(src, heads[0]); err != nil {
			return nil, mistyped(name, src, err)
		}
	}
	for _, h := range heads {
		if err := h.check(name); err != nil {
			return nil, err
		}
	}
	var err error
	if text[0] == '[' {
		err = json.Unmarshal(src, &results)
	} else {
		results = []*tare.Result{{}}
		err = json.Unmarshal(src, results[0])
	}
	if err != nil {
		return nil, mistyped(name, src, err)
	}
	for _, r := range results {
		if err := named(name, r); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// fits reports a document, or a list of them, that takes more memory than any result.
func fits(name string, src []byte) error {
	as := reflect.TypeFor[tare.Result]()
	if bytes.HasPrefix(bytes.TrimSpace(src), []byte("[")) {
		as = reflect.TypeFor[[]*tare.Result]()
	}
	err := footprint.Check(src, as, footprint.Most)
	if large := (*footprint.Error)(nil); errors.As(err, &large) {
		e := at(name, src, int64(large.Offset)+1)
		e.What, e.Hint = err.Error()+" up to here", "a result takes far less"
		return e
	}
	return nil
}

// Check says what is wrong with results that came in another document, which is
// called name: what [Parse] says of those in a document of their own.
func Check(name string, results []*tare.Result) error {
	for _, r := range results {
		var h *head
		if r != nil {
			h = &head{&r.Schema}
		}
		if err := h.check(name); err != nil {
			return err
		}
		if err := named(name, r); err != nil {
			return err
		}
	}
	return nil
}

func named(name string, r *tare.Result) error {
	if r.Study == "" {
		return &Error{File: name, What: "a result that names no study"}
	}
	return nil
}

// check reports a document that is of another schema.
func (h *head) check(name string) error {
	if h == nil || h.Schema == nil {
		return &Error{File: name, What: `no result: it has no "schema"`, Hint: "a result is a JSON document, as tare run --json prints it"}
	}
	if *h.Schema == tare.ResultSchema {
		return nil
	}
	family, ours, _ := strings.Cut(tare.ResultSchema, "/")
	if number, ok := strings.CutPrefix(*h.Schema, family+"/"); ok {
		theirs, err := strconv.Atoi(number)
		mine, _ := strconv.Atoi(ours)
		if err == nil && theirs > mine {
			return &Error{File: name, What: fmt.Sprintf("schema %s is newer than this tare reads (%s)", *h.Schema, tare.ResultSchema), Hint: "use the tare that wrote it, or a newer one"}
		}
	}
	return &Error{File: name, What: fmt.Sprintf("schema %.60q is not %s", *h.Schema, tare.ResultSchema)}
}

// syntax is the error of a document that is no JSON.
func syntax(name string, src []byte, err error) error {
	var s *json.SyntaxError
	if !errors.As(err, &s) {
		return &Error{File: name, What: "not JSON: " + format.Line(err.Error(), 0)}
	}
	e := at(name, src, s.Offset)
	e.What = "not JSON: " + format.Line(s.Error(), 0)
	switch {
	case int(s.Offset) >= len(bytes.TrimRight(src, " \t\r\n")) && strings.Contains(s.Error(), "unexpected end"):
		e.What = "the document ends in the middle"
	case strings.Contains(s.Error(), "after top-level value"):
		e.What, e.Hint = "more than one document", "put them into a list: [ …, … ]"
	}
	return e
}

// mistyped is the error of a document in which something is of another type.
func mistyped(name string, src []byte, err error) error {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return &Error{File: name, What: format.Line(err.Error(), 0)}
	}
	e := at(name, src, t.Offset)
	what := "it"
	if t.Field != "" {
		what = key(t.Field)
	}
	e.What = fmt.Sprintf("%s is a JSON %s, but must be %s", what, t.Value, wanted(t.Type))
	return e
}

// key is the path of a value in a document. Package json puts the names of embedded
// structs into it, which begin with a capital and are in no document.
func key(path string) string {
	parts := strings.Split(path, ".")
	parts = slices.DeleteFunc(parts, func(p string) bool { return p != "" && p[0] >= 'A' && p[0] <= 'Z' })
	return strings.Join(parts, ".")
}

// wanted is a Go type in the words of JSON.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// at is an error at the last of the first offset bytes.
func at(name string, src []byte, offset int64) *Error {
	before := src[:min(max(int(offset)-1, 0), len(src))]
	line := bytes.LastIndexByte(before, '\n')
	return &Error{File: name, Line: bytes.Count(before, []byte("\n")) + 1, Col: utf8.RuneCount(before[line+1:]) + 1}
}
