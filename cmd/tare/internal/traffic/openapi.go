package traffic

import (
	"errors"
	"fmt"
	"io"

	"github.com/tarebench/tare/cmd/tare/internal/openapi"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// readOpenAPI makes requests from the examples in a document. It records operations without a request
// as broken.
func (f *Feed) readOpenAPI(name string, r io.Reader) error {
	src, err := io.ReadAll(io.LimitReader(r, openapi.MaxBytes+1))
	if err != nil {
		return err
	}
	doc, err := openapi.Read(name, src)
	if err != nil {
		return err
	}
	const maxPath = 60 // characters in a message
	for _, skipped := range doc.Skipped {
		f.recordBroken(skipped.Line, "", errors.New(format.Line(skipped.Path, maxPath)+": "+skipped.Why))
	}
	requests := openapi.NewRequests(doc)
	for _, op := range doc.Operations {
		f.More = f.More || requests.IsSpent()
		if f.reachesBound() {
			return nil
		}
		q, err := f.makeRequest(requests, op)
		if err != nil {
			f.recordBroken(op.Line, "", fmt.Errorf("%s %s: %w", op.Method, format.Line(op.Path, maxPath), err))
			continue
		}
		f.addRequest(q)
	}
	return nil
}

// makeRequest removes secret headers and query parameters, but nothing from the body.
func (f *Feed) makeRequest(requests *openapi.Requests, op openapi.Operation) (load.Request, error) {
	made, err := requests.Make(op)
	if err != nil {
		return load.Request{}, err
	}
	q := load.Request{Method: made.Method, Path: f.removeQuerySecrets(made.Path), Body: made.Body}
	for _, h := range made.Header {
		if !f.countSecret(h[0]) {
			q.Header = append(q.Header, h)
		}
	}
	if err := load.CheckRequest(q); err != nil {
		return q, err
	}
	if requestSize(q) > maxEntry {
		return q, fmt.Errorf("longer than %d bytes", maxEntry)
	}
	return q, nil
}
