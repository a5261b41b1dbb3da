package openapi

import (
	"os"
	"strings"
	"testing"

	"github.com/tarebench/tare/load"
)

// FuzzRequests: whatever is in a document, its requests can be sent.
func FuzzRequests(f *testing.F) {
	src, err := os.ReadFile("testdata/api.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(src))
	f.Add(operation("{name: p, in: path, style: matrix, example: {a: [1]}}, {name: q, in: query, style: deepObject, example: {a: 1}}", ", requestBody: {content: {multipart/form-data: {example: {a: x}}}}"))
	f.Add("swagger: 2.0\npaths: {/a: {post: {consumes: [a], parameters: [{in: body, schema: &s {allOf: [*s ], properties: {a: *s , b: {enum: [1]}}}}]}}}")
	f.Add("openapi: 3.1.0\npaths: {/a: &a {$ref: '#/paths/~1a', get: {$ref: '#/paths/~1a/get'}, put: {requestBody: {content: {a/json: {example: &e [*e ]}}}}}}")
	f.Fuzz(func(t *testing.T, src string) {
		d, err := Read("f", []byte(src))
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("%q", err)
			}
			return
		}
		r := NewRequests(d)
		for _, op := range d.Operations {
			q, err := r.Make(op)
			if err != nil {
				continue
			}
			// Names of headers are those of the document.
			if err := load.CheckRequest(load.Request{Method: q.Method, Path: q.Path, Body: q.Body}); err != nil && strings.HasPrefix(op.Path, "/") {
				t.Error(err)
			}
		}
	})
}
