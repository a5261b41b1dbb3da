package conformance

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// examineStalled checks that the server rejects a request of which nothing more arrives, in the middle
// of the body or of the header, or closes its connection. It does not test a client that sends a byte
// now and then: a stack may limit each read instead of the request. The limit of a request is tested in
// package contender/server.
func (s Subject) examineStalled(a App) error {
	if a.Stalled == "" || s.Hasty {
		return nil
	}
	err := s.Visit(Session{}, func(p *Process, _ wire.Reply) error {
		return Exam{Subject: s, App: a, Process: p}.checkStalled()
	})
	if err != nil {
		return fmt.Errorf("app %s: stalled: %w", a.Name, err)
	}
	return nil
}

// checkStalled sends the starts of three requests, over a connection each, and waits for all of them
// concurrently.
func (e Exam) checkStalled() error {
	addr, err := e.Serves(nil)
	if err != nil {
		return err
	}
	starts := []string{ // two bodies and a header that are not complete
		"POST " + e.Stalled + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[{",
		"POST " + e.Stalled + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[{\r\n",
		"POST " + e.Stalled + " HTTP/1.1\r\nHost: x\r\nContent-Ty",
	}
	results := make(chan error, len(starts))
	for _, start := range starts {
		go func() {
			err := e.awaitTimeout(addr, start)
			if err != nil {
				err = fmt.Errorf("after %q: %w", start, err)
			}
			results <- err
		}()
	}
	var errs []error
	for range starts {
		errs = append(errs, <-results)
	}
	return errors.Join(errs...)
}

// awaitTimeout sends the start of a request and nothing more. It returns an error unless the server
// gives up after about its read timeout.
func (e Exam) awaitTimeout(addr, start string) error {
	c, err := Dial(addr, nil, e.Limit)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.conn.Write([]byte(start)); err != nil {
		return err
	}
	const maxWait = server.ReadTimeout + 5*time.Second
	begun := time.Now()
	if err := c.conn.SetReadDeadline(begun.Add(maxWait)); err != nil {
		return err
	}
	r, err := http.ReadResponse(bufio.NewReader(c.conn), nil)
	took := time.Since(begun).Round(time.Millisecond)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("it still waits for the rest after %v", took)
	case took < server.ReadTimeout/2:
		return fmt.Errorf("it has waited for the rest for %v only; requests have %v", took, server.ReadTimeout)
	case err != nil:
		return nil // the server has closed the connection
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusRequestTimeout && r.StatusCode != http.StatusBadRequest && !e.Trap {
		return fmt.Errorf("status %d, want %d", r.StatusCode, http.StatusRequestTimeout)
	}
	return nil
}
