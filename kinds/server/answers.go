package server

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/tarebench/tare/load"
)

// Answers reads the answers of a connection over HTTP/1.1, one after the other, as
// package net/http does, whose heads have no bound of their own.
type Answers struct {
	in   *bufio.Reader
	from io.LimitedReader
}

// NewAnswers reads responses from conn.
func NewAnswers(conn io.Reader) *Answers {
	a := &Answers{from: io.LimitedReader{R: conn}}
	a.in = bufio.NewReader(&a.from)
	return a
}

// Next reads the head of the next answer, which is to a request with that method and has at most
// [load.MaxHead] bytes. Interim answers are skipped. The error is io.EOF if the connection ends
// before the first byte.
func (a *Answers) Next(method string) (*http.Response, error) {
	a.from.N = int64(load.MaxHead - a.in.Buffered())
	if _, err := a.in.Peek(1); err != nil {
		return nil, err
	}
	for {
		r, err := http.ReadResponse(a.in, &http.Request{Method: method})
		switch {
		case err != nil && a.from.N <= 0: // a line that ends there looks malformed
			return nil, fmt.Errorf("the head of the answer has more than %d bytes", load.MaxHead)
		case err != nil:
			return nil, err
		case r.StatusCode >= http.StatusOK:
			a.from.N = math.MaxInt64 // the body is the caller's to bound
			return r, nil
		}
	}
}
