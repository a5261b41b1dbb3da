package traffic

import (
	"errors"
	"fmt"
	"io"

	"github.com/tarebench/tare/cmd/tare/internal/openapi"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// readOpenAPI builds a request for each operation of a document from its examples.
func (f *Feed) readOpenAPI(name string, r io.Reader) error {
	src, err := io.ReadAll(io.LimitReader(r, openapi.MaxBytes+1))
	if err != nil {
		return err
	}
	doc, err := openapi.Read(name, src)
	if err != nil {
		return err
	}
	for _, l := range doc.Left {
		f.recordBroken(l.Line, "", errors.New(l.Where+": "+l.Why))
	}
	requests := openapi.NewRequests(doc)
	for _, op := range doc.Operations {
		if f.More = f.More || requests.IsSpent(); f.isFull() {
			return nil
		}
		q, err := f.describedRequest(requests, op)
		if err != nil {
			f.recordBroken(op.Line, "", fmt.Errorf("%s %s: %w", op.Method, format.Line(op.Path, 60), err))
			continue
		}
		f.addRequest(q)
	}
	return nil
}

// describedRequest returns the request of an operation. It withholds headers and query
// parameters with secret names; bodies stay as in the document.
func (f *Feed) describedRequest(requests *openapi.Requests, op openapi.Operation) (load.Request, error) {
	made, err := requests.Make(op)
	if err != nil {
		return load.Request{}, err
	}
	q := load.Request{Method: made.Method, Path: f.publicQuery(made.Path), Body: made.Body}
	for _, h := range made.Header {
		if !f.isWithheld(h[0]) {
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
