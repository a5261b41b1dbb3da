// Package history reads the runs that tare stores, and follows a study from run to run. For example,
// NewTrend finds at which run a ratio changed. A run is a directory with its result and its journal,
// such as results/json-encode/20261102T150405Z-7 with result.json.
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

// MaxBytes is the largest size of a file of results.
const MaxBytes = 256 << 20

// Error says why a file is not a readable result, and at which position.
type Error struct {
	File string
	Line int // from 1; 0 if the error has no position
	Col  int // in characters, from 1
	What string
	Hint string // how to correct it; may be ""
}

// Error returns one line: file:line:col: what; hint.
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

// ReadFile reads the results in a file: one document, or a list of documents. All errors are an
// [*Error], except those of the operating system.
func ReadFile(path string) ([]*tare.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFrom(path, f)
}

// ReadFrom reads results like ReadFile, from a stream. Errors contain name.
func ReadFrom(name string, in io.Reader) ([]*tare.Result, error) { return readFrom(name, in, MaxBytes) }

// readFrom is ReadFrom with a limit in bytes.
func readFrom(name string, in io.Reader, maxBytes int64) ([]*tare.Result, error) {
	src, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(src)) > maxBytes {
		return nil, &Error{File: name, What: fmt.Sprintf("larger than %d MiB", maxBytes>>20), Hint: "a result is far smaller; name the " + ResultName + " of a run"}
	}
	return Parse(name, src)
}

type head struct {
	Schema *string `json:"schema"`
}

// Parse parses one result document, or a list of documents. It ignores unknown fields: later versions
// add some. Its errors are an [*Error].
func Parse(name string, src []byte) ([]*tare.Result, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	text := bytes.TrimSpace(src)
	switch {
	case len(text) == 0:
		return nil, &Error{File: name, What: "empty", Hint: "a result is a JSON document, as tare run --json prints it"}
	case bytes.HasPrefix(text, []byte(`{"head":{"format":"tare.journal/`)):
		return nil, &Error{File: name, What: "a run's journal, not its result", Hint: "name the " + ResultName + " next to it"}
	}
	var document json.RawMessage
	if err := json.Unmarshal(src, &document); err != nil { // only to check the syntax
		return nil, syntaxError(name, src, err)
	}
	if err := checkFootprint(name, src); err != nil {
		return nil, err
	}
	heads, err := decodeDocuments[head](src) // only the schemas: documents of another one may not fit tare.Result
	if err != nil {
		return nil, typeError(name, src, err)
	}
	if len(heads) == 0 {
		return nil, &Error{File: name, What: "an empty list of results"}
	}
	for _, h := range heads {
		if err := h.check(name); err != nil {
			return nil, err
		}
	}
	results, err := decodeDocuments[tare.Result](src)
	if err != nil {
		return nil, typeError(name, src, err)
	}
	for _, r := range results {
		if err := checkNamed(name, r); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func decodeDocuments[T any](src []byte) (docs []*T, err error) {
	if bytes.HasPrefix(bytes.TrimSpace(src), []byte("[")) {
		err = json.Unmarshal(src, &docs)
		return docs, err
	}
	doc := new(T)
	err = json.Unmarshal(src, doc)
	return []*T{doc}, err
}

// checkFootprint returns an error for documents that would take more memory than any result.
func checkFootprint(name string, src []byte) error {
	target := reflect.TypeFor[tare.Result]()
	if bytes.HasPrefix(bytes.TrimSpace(src), []byte("[")) {
		target = reflect.TypeFor[[]*tare.Result]()
	}
	err := footprint.Check(src, target, footprint.Most)
	var tooLarge *footprint.Error
	if !errors.As(err, &tooLarge) {
		return nil // err is nil: footprint.Check returns no other errors
	}
	e := errorAt(name, src, int64(tooLarge.Offset)+1)
	e.What = err.Error() + " up to here"
	e.Hint = "a result takes far less"
	return e
}

// Check checks results that were part of another document, and returns the same errors as [Parse]. The
// argument name is the name of that document.
func Check(name string, results []*tare.Result) error {
	for _, r := range results {
		var h *head
		if r != nil {
			h = &head{&r.Schema}
		}
		if err := h.check(name); err != nil {
			return err
		}
		if err := checkNamed(name, r); err != nil {
			return err
		}
	}
	return nil
}

func checkNamed(name string, r *tare.Result) error {
	if r.Study == "" {
		return &Error{File: name, What: "a result that names no study"}
	}
	return nil
}

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

func syntaxError(name string, src []byte, err error) error {
	var s *json.SyntaxError
	if !errors.As(err, &s) {
		return &Error{File: name, What: "not JSON: " + format.Line(err.Error(), 0)}
	}
	e := errorAt(name, src, s.Offset)
	e.What = "not JSON: " + format.Line(s.Error(), 0)
	isAtEnd := int(s.Offset) >= len(bytes.TrimRight(src, " \t\r\n"))
	switch {
	case isAtEnd && strings.Contains(s.Error(), "unexpected end"):
		e.What = "the document ends in the middle"
	case strings.Contains(s.Error(), "after top-level value"):
		e.What, e.Hint = "more than one document", "put them into a list: [ …, … ]"
	}
	return e
}

func typeError(name string, src []byte, err error) error {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return &Error{File: name, What: format.Line(err.Error(), 0)}
	}
	e := errorAt(name, src, t.Offset)
	field := "it"
	if t.Field != "" {
		field = fieldPath(t.Field)
	}
	e.What = fmt.Sprintf("%s is a JSON %s, but must be %s", field, t.Value, jsonTypeName(t.Type))
	return e
}

// fieldPath returns a path in a document without the names of embedded structs, which package
// encoding/json adds.
func fieldPath(path string) string {
	parts := strings.Split(path, ".")
	parts = slices.DeleteFunc(parts, func(p string) bool { return p != "" && p[0] >= 'A' && p[0] <= 'Z' })
	return strings.Join(parts, ".")
}

func jsonTypeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonTypeName(t.Elem())
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
	return "an integer"
}

// errorAt returns an error at byte number offset, counted from 1 as in package encoding/json.
func errorAt(name string, src []byte, offset int64) *Error {
	before := src[:min(max(int(offset)-1, 0), len(src))]
	line := bytes.LastIndexByte(before, '\n')
	return &Error{File: name, Line: bytes.Count(before, []byte("\n")) + 1, Col: utf8.RuneCount(before[line+1:]) + 1}
}
