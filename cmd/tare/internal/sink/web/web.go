// Package web sends events over HTTP. It sends lines, a JSON array, or requests of Elasticsearch, OpenSearch,
// ClickHouse and BigQuery.
package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
)

// Web is a destination over HTTP.
type Web struct {
	target    sink.Target
	url       url.URL
	api       eventAPI
	client    *http.Client
	auth      func() (string, error) // Authorization header, or ""
	compress  *gzip.Writer           // nil if bodies are not compressed
	now       func() time.Time
	plain     []byte       // buffer of a body
	packed    bytes.Buffer // buffer of a compressed body
	transport *http.Transport
}

// eventAPI encodes requests and decodes responses of one API, such as _bulk of Elasticsearch.
type eventAPI interface {
	requestURL(base url.URL, b sink.Batch) url.URL
	// appendBody appends the body of a request. If it returns events, these do not fit into a request. The
	// body must then not be sent.
	appendBody(body []byte, b sink.Batch) ([]byte, []sink.Dead)
	mediaType() string
	// readResponse decodes a response with status 2xx.
	readResponse(responseBody []byte, header http.Header, b sink.Batch) (sink.Result, error)
	// isRejection reports whether another status rejects the content of the batch.
	isRejection(status int, header http.Header, responseBody []byte) bool
	// guarantee returns the promise of a status 2xx, without its destination.
	guarantee() sink.Promise
}

// maxResponse limits a response, in bytes.
const maxResponse = 64 << 20

func newWeb(t sink.Target, api eventAPI, c sink.Settings) *Web {
	w := &Web{target: t, url: t.URL, api: api, auth: newAuth(t, c.Token), now: c.Now}
	w.url.Scheme, _, _ = strings.Cut(t.URL.Scheme, "+")
	w.url.User = nil
	if t.Options["gzip"] == "on" {
		w.compress, _ = gzip.NewWriterLevel(&w.packed, gzip.BestSpeed) // fails only for invalid levels
	}
	w.transport = http.DefaultTransport.(*http.Transport).Clone()
	w.transport.DisableCompression = true
	w.client = &http.Client{Transport: w.transport, Timeout: c.Timeout}
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return w
}

// maxToken limits a file with a token, in bytes. Servers do not accept longer headers.
const maxToken = 64 << 10

// newAuth returns a function that returns the Authorization header, or "". The value comes from the file of
// option token-file, else from the user of the URL, else from token. Tokens expire, so the file is read for each
// request.
func newAuth(t sink.Target, token string) func() (string, error) {
	path, user := t.Options[sink.OptionToken], t.URL.User
	return func() (string, error) {
		switch {
		case path != "":
			text, err := atomicfile.ReadFile(path, maxToken)
			if err != nil {
				return "", fmt.Errorf("read the token: %w", err)
			}
			return "Bearer " + strings.TrimSpace(string(text)), nil
		case user != nil:
			r := http.Request{Header: http.Header{}}
			password, _ := user.Password()
			r.SetBasicAuth(user.Username(), password)
			return r.Header.Get("Authorization"), nil
		case token != "":
			return "Bearer " + token, nil
		}
		return "", nil
	}
}

// Send sends a batch in one request.
func (w *Web) Send(ctx context.Context, b sink.Batch) (sink.Result, error) {
	body, dead := w.api.appendBody(w.plain[:0], b)
	w.plain = body
	if len(dead) > 0 { // the caller sends the other events again
		return sink.Result{Dead: dead, Again: liveIndices(b, dead)}, nil
	}
	request, err := w.newRequest(ctx, b, body)
	if err != nil {
		return sink.Result{}, err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return sink.Result{}, hideURL(err)
	}
	defer response.Body.Close()
	responseBody, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return sink.Result{}, fmt.Errorf("the answer ended early: %w", err)
	}
	if response.StatusCode/100 == 2 {
		return w.api.readResponse(responseBody, response.Header, b)
	}
	return sink.Result{}, w.responseError(response, responseBody)
}

func (w *Web) newRequest(ctx context.Context, b sink.Batch, body []byte) (*http.Request, error) {
	encoding := ""
	if w.compress != nil {
		var err error
		if body, err = w.compressBody(body); err != nil {
			return nil, err
		}
		encoding = "gzip"
	}
	address := w.api.requestURL(w.url, b)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	auth, err := w.auth()
	if err != nil {
		return nil, err
	}
	setHeader := func(name, value string) {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	setHeader("Content-Type", w.api.mediaType())
	setHeader("User-Agent", "tare")
	setHeader("Idempotency-Key", b.Name())
	setHeader(sink.TraceHeader, b.Traceparent())
	setHeader("Content-Encoding", encoding)
	setHeader("Authorization", auth)
	return request, nil
}

// compressBody returns body in gzip, valid until the next call.
func (w *Web) compressBody(body []byte) ([]byte, error) {
	w.packed.Reset()
	w.compress.Reset(&w.packed)
	if _, err := w.compress.Write(body); err != nil {
		return nil, err
	}
	if err := w.compress.Close(); err != nil {
		return nil, err
	}
	return w.packed.Bytes(), nil
}

func (w *Web) responseError(r *http.Response, responseBody []byte) error {
	const maxBytes, maxRunes = 500, 200 // limits of the body in an error
	text := fmt.Sprintf("answered %d: %s", r.StatusCode, format.Line(string(responseBody[:min(len(responseBody), maxBytes)]), maxRunes))
	if r.StatusCode == http.StatusRequestEntityTooLarge || w.api.isRejection(r.StatusCode, r.Header, responseBody) {
		return &sink.Refused{Reason: text}
	}
	err := errors.New(text)
	if after, ok := retryAfter(r.Header.Get("Retry-After"), w.now()); ok {
		return &sink.Later{Err: err, After: after}
	}
	return err
}

// retryAfter parses Retry-After, a number of seconds or a date. It returns the time from now.
func retryAfter(text string, now time.Time) (after time.Duration, ok bool) {
	if seconds, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && seconds >= 0 && seconds < 1<<30 {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	return max(0, at.Sub(now)), err == nil
}

// hideURL returns an error of the client without the URL, which may contain secrets.
func hideURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// liveIndices returns the indices of b that are not in dead, which is sorted.
func liveIndices(b sink.Batch, dead []sink.Dead) (rest []int) {
	k := 0
	for i := range b.Events {
		if k < len(dead) && dead[k].Index == i {
			k++
			continue
		}
		rest = append(rest, i)
	}
	return rest
}

// Promise returns the guarantee of a response with status 2xx.
func (w *Web) Promise() sink.Promise {
	p := w.api.guarantee()
	p.To = w.target.String()
	return p
}

// Close closes idle connections.
func (w *Web) Close() error {
	w.transport.CloseIdleConnections()
	return nil
}
