// Package conformance describes to internal/conformance how every server of app tiny must behave.
package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tarebench/tare/apps/tiny"
	"github.com/tarebench/tare/internal/conformance"
)

// App returns the description of app tiny.
func App() (conformance.App, error) {
	a := conformance.App{
		Name:       tiny.Name,
		NthRequest: func(i, k int) conformance.GoodRequest { return goodRequest(fmt.Sprintf("/v1/id/%d-%d", i, k)) },
		Checks:     []conformance.Check{{Name: "refusals", Run: checkRefused}},
	}
	for _, path := range []string{
		"/v1/id/7", "/v1/id/7?verbose=1", "/v1/id/0", "/v1/id/health", "/health", "/v1/id/" + strings.Repeat("0123456789abcdef", 4),
		// Ids with escapes, in upper and lower case.
		"/v1/id/a%20b", "/v1/id/a+b", "/v1/id/100%25", "/v1/id/%2525", "/v1/id/caf%C3%A9", "/v1/id/caf%c3%a9", "/v1/id/%22%5C%22", "/v1/id/%c3%a9%25",
	} {
		a.GoodRequests = append(a.GoodRequests, goodRequest(path))
	}
	return a, nil
}

func goodRequest(path string) conformance.GoodRequest {
	return conformance.GoodRequest{Request: conformance.Get(path), CheckResponse: func(got conformance.Response) error {
		status, kind, body := tiny.Answer("GET", path)
		if got.Status != status || got.ContentType != kind || !bytes.Equal(got.Body, body) {
			return fmt.Errorf("%d %s %q, want %d %s %q", got.Status, got.ContentType, got.Body, status, kind, body)
		}
		return nil
	}}
}

// checkRefused sends requests that must be rejected. A response to HEAD must have no body: otherwise the
// next response could not be read.
func checkRefused(e conformance.Env) error {
	addr, err := e.StartServer(nil)
	if err != nil {
		return err
	}
	for _, c := range []struct{ method, path string }{
		{"POST", "/v1/id/7"},
		{"PUT", "/v1/id/7"},
		{"PATCH", "/v1/id/7"},
		{"DELETE", "/v1/id/7"},
		{"POST", "/health"},
		{"GET", "/"},
		{"GET", "/v1/id/"},
		{"GET", "/v1/id/a/b"},
		{"GET", "/v2/id/7"},
		{"GET", "/healthier"},
		{"POST", "/nothing"},
	} {
		for _, body := range [][]byte{nil, []byte(`{"id":"8"}`)} {
			if body != nil && c.method == "GET" { // a GET has no body
				continue
			}
			got, err := e.SendOnce(addr, conformance.Request{Method: c.method, Path: c.path, Body: body})
			want, _, _ := tiny.Answer(c.method, c.path)
			isWrong := got.Status != want && !e.WrongOnPurpose
			if err != nil || isWrong {
				return errors.Join(err, fmt.Errorf("%s %s: status %d, want %d", c.method, c.path, got.Status, want))
			}
			if got.Status == 405 && !e.WrongOnPurpose {
				if err := conformance.CheckAllow(got.Header.Get("Allow"), "GET"); err != nil {
					return fmt.Errorf("%s %s: %w", c.method, c.path, err)
				}
			}
		}
	}
	caller, err := conformance.Dial(addr, nil, e.Limit)
	if err != nil {
		return err
	}
	defer caller.Close()
	for _, path := range []string{"/v1/id/7", "/health"} {
		got, err := caller.Send(conformance.Request{Method: "HEAD", Path: path})
		if err != nil {
			return fmt.Errorf("HEAD %s: %w", path, err)
		}
		if got.Closes { // no other request can follow
			return nil
		}
		if err := e.SendGood(caller, goodRequest(path)); err != nil {
			return fmt.Errorf("after HEAD %s: %w", path, err)
		}
	}
	return nil
}
