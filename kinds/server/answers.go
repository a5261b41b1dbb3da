package server

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/tarebench/tare/load"
)

// Answers reads the responses of a connection of HTTP/1.1. It limits their heads, which net/http
// does not.
type Answers struct {
	in      *bufio.Reader
	limited io.LimitedReader // input of in
}

// NewAnswers reads responses from conn.
func NewAnswers(conn io.Reader) *Answers {
	a := &Answers{limited: io.LimitedReader{R: conn}}
	a.in = bufio.NewReader(&a.limited)
	return a
}

// Next reads the head of the response to a request with the given method. A head has at most
// [load.MaxHead] bytes. The error is io.EOF if the connection ends before the first byte.
func (a *Answers) Next(method string) (*http.Response, error) {
	a.limited.N = int64(load.MaxHead - a.in.Buffered())
	if _, err := a.in.Peek(1); err != nil {
		return nil, err
	}
	for {
		r, err := http.ReadResponse(a.in, &http.Request{Method: method})
		switch {
		case err != nil && a.limited.N <= 0: // incomplete line: err is about its syntax
			return nil, fmt.Errorf("the head of the answer has more than %d bytes", load.MaxHead)
		case err != nil:
			return nil, err
		case r.StatusCode >= http.StatusOK:
			a.limited.N = math.MaxInt64 // the caller must limit the body
			return r, nil
		}
	}
}
