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

// testStalled tests requests that stop in the middle of the header or body. After a while the server must
// reject such a request, or close its connection.
//
// It does not test a client that sends a byte now and then. Some HTTP stacks limit each read instead of the
// request.
func (s Subject) testStalled(a App) error {
	if a.StalledPath == "" || s.SkipSlow {
		return nil
	}
	err := s.RunSession(Session{}, func(p *Process, _ wire.Reply) error {
		return Env{Subject: s, App: a, Process: p}.checkStalled()
	})
	if err != nil {
		return fmt.Errorf("app %s: stalled: %w", a.Name, err)
	}
	return nil
}

func (e Env) checkStalled() error {
	addr, err := e.StartServer(nil)
	if err != nil {
		return err
	}
	starts := []string{ // two incomplete bodies and an incomplete header
		"POST " + e.StalledPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[{",
		"POST " + e.StalledPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[{\r\n",
		"POST " + e.StalledPath + " HTTP/1.1\r\nHost: x\r\nContent-Ty",
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

// awaitTimeout sends the start of a request and nothing more. The server must wait at least half of its read
// timeout. It must give up at most 5 s after that timeout.
func (e Env) awaitTimeout(addr, start string) error {
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
	isRejected := r.StatusCode == http.StatusRequestTimeout || r.StatusCode == http.StatusBadRequest
	if !isRejected && !e.WrongOnPurpose {
		return fmt.Errorf("status %d, want %d", r.StatusCode, http.StatusRequestTimeout)
	}
	return nil
}
