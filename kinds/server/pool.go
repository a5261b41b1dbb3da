package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/pool"
)

// This file writes and reads pools. A pool is a file with the requests that a workload sends in a
// cycle, one JSON object on each line.

// Limits of a user's requests.
const (
	maxRequests = 1_000_000
	maxFile     = 1 << 30 // bytes
)

// writePool writes a pool, the requests that a workload sends in a cycle, into a file of dir.
func (k *Kind) writePool(dir string, list []Request, s spec) (wire.Workload, error) {
	lines := make([][]byte, len(list))
	for i, r := range list {
		var err error
		if lines[i], err = json.Marshal(r); err != nil {
			return wire.Workload{}, err
		}
	}
	specJSON, err := json.Marshal(s)
	if err != nil {
		return wire.Workload{}, err
	}
	w, err := pool.Write(dir, "requests-", lines, 0o600)
	if err != nil {
		return w, err
	}
	w.Spec = specJSON
	k.mu.Lock()
	k.pools[w.Input] = list
	k.mu.Unlock()
	return w, nil
}

func (k *Kind) poolOf(in wire.Workload) ([]Request, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	list, ok := k.pools[in.Input]
	if !ok {
		return nil, fmt.Errorf("workload %q: internal error: this process wrote no requests to %s", in.ID, in.Input)
	}
	return list, nil
}

// encodedPool returns the requests of a pool in the encoding d, which it converts once. A request
// that d cannot express becomes the zero Request, which has no method.
func (k *Kind) encodedPool(in wire.Workload, d Dialect) ([]Request, error) {
	list, err := k.poolOf(in)
	if err != nil || d.Encode == nil {
		return list, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := [2]string{in.Input, d.Name}
	if encoded, ok := k.encoded[key]; ok {
		return encoded, nil
	}
	encoded := make([]Request, len(list))
	for i, q := range list {
		e, canEncode, err := d.Encode(q)
		if err != nil {
			return nil, err
		}
		if canEncode {
			encoded[i] = e
		}
	}
	k.encoded[key] = encoded
	return encoded, nil
}

// writeClientPool writes the calls for the requests in the pool at path. Contenders that have a
// client get these in place of requests. It does nothing if the app has no such contenders.
func (k *Kind) writeClientPool(dir, path string, a App) error {
	if a.Caller == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	lines, err := a.Caller.Lines(k.pools[path])
	if err != nil {
		return err
	}
	k.calls[path], err = pool.Write(dir, "calls-", lines, 0o600)
	return err
}

func (k *Kind) clientPool(path string) (calls wire.Workload, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	calls, ok = k.calls[path]
	return calls, ok
}

func readFile(path, studyDir string) ([]Request, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(studyDir, path)
	}
	src, err := atomicfile.ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	list, err := parseRequests(src)
	var lineErr *lineError
	if errors.As(err, &lineErr) {
		return nil, fmt.Errorf("%s:%d: %w", path, lineErr.line, lineErr.err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

type lineError struct {
	line int // from 1
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func parseRequests(src []byte) ([]Request, error) {
	var list []Request
	n := 0
	for line := range bytes.Lines(src) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		r, err := parseRequest(line)
		if err != nil {
			return nil, &lineError{line: n, err: err}
		}
		if list = append(list, r); len(list) > maxRequests {
			return nil, fmt.Errorf("more than %d requests", maxRequests)
		}
	}
	if len(list) == 0 {
		return nil, errors.New(`no requests; a line is e.g. {"method":"GET","path":"/health"}`)
	}
	return list, nil
}

// parseRequest parses one request of a file. It returns an error if the request would be invalid on
// the wire.
func parseRequest(line []byte) (Request, error) {
	parsed := wire.HTTPRequest{Method: "GET"} // the default
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&parsed)
	r := Request{Method: parsed.Method, Path: parsed.Path, Header: parsed.Header, Body: parsed.Body, Items: parsed.Items}
	if err != nil {
		return r, fmt.Errorf("not a request: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return r, errors.New("something follows the request")
	}
	switch {
	case !isToken(r.Method):
		return r, fmt.Errorf("%q is not a method", r.Method)
	case !strings.HasPrefix(r.Path, "/"):
		return r, fmt.Errorf("the path %q does not begin with a slash", r.Path)
	case strings.ContainsFunc(r.Path, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return r, fmt.Errorf("the path %q has a space or a control character in it; escape it", r.Path)
	}
	if r.Items < 0 {
		return r, fmt.Errorf("items is %d; it must not be negative", r.Items)
	}
	for name, value := range r.Header {
		if !isToken(name) {
			return r, fmt.Errorf("%q is not the name of a header", name)
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			return r, fmt.Errorf("header %s has more than one line", name)
		}
	}
	return r, nil
}

// isToken reports whether s is a token of HTTP (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}
