// Package web sends events over HTTP: as lines, as an array, and as the APIs of
// Elasticsearch, OpenSearch, ClickHouse and BigQuery take them.
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
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/whole"
)

// Web is a far side behind HTTP.
type Web struct {
	target    sink.Target
	url       url.URL
	dialect   dialect
	client    *http.Client
	auth      func() (string, error) // of the Authorization header; empty: none
	compress  *gzip.Writer           // nil: bodies are sent as they are
	now       func() time.Time
	plain     []byte
	packed    bytes.Buffer
	transport *http.Transport
}

// dialect is how one API takes events.
type dialect interface {
	// address is where a batch is sent.
	address(base url.URL, b sink.Batch) url.URL
	// body appends a batch, or says which events cannot be in it.
	body(to []byte, b sink.Batch) ([]byte, []sink.Dead)
	media() string
	// read reads an answer of 2xx.
	read(answer []byte, header http.Header, b sink.Batch) (sink.Result, error)
	// refuses reports whether an answer of another status is about the content
	// of the batch.
	refuses(status int, header http.Header, answer []byte) bool
	promise() sink.Promise
}

// mostAnswer is how many bytes of an answer are read.
const mostAnswer = 64 << 20

// newWeb returns the sink that t names, whose API takes events as d does.
func newWeb(t sink.Target, d dialect, c sink.Settings) *Web {
	w := &Web{target: t, url: t.URL, dialect: d, auth: authorization(t, c.Token), now: c.Now}
	w.url.Scheme, _, _ = strings.Cut(t.URL.Scheme, "+")
	w.url.User = nil
	if t.Options["gzip"] == "on" {
		w.compress, _ = gzip.NewWriterLevel(&w.packed, gzip.BestSpeed) // it fails only for other levels
	}
	w.transport = http.DefaultTransport.(*http.Transport).Clone()
	w.transport.DisableCompression = true
	w.client = &http.Client{
		Transport:     w.transport,
		Timeout:       c.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return w
}

// mostToken is how long a file with a token may be: a server takes no longer header.
const mostToken = 64 << 10

// authorization is the header's value: by a file, which is read for each
// request because tokens expire, by the URL, or by a token.
func authorization(t sink.Target, token string) func() (string, error) {
	path, user := t.Options[sink.OptionToken], t.URL.User
	return func() (string, error) {
		switch {
		case path != "":
			text, err := whole.ReadFile(path, mostToken)
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
	body, dead := w.dialect.body(w.plain[:0], b)
	w.plain = body
	if len(dead) > 0 { // the others are sent without them
		return sink.Result{Dead: dead, Again: without(b, dead)}, nil
	}
	request, err := w.request(ctx, b, body)
	if err != nil {
		return sink.Result{}, err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return sink.Result{}, quiet(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return sink.Result{}, fmt.Errorf("the answer ended early: %w", err)
	}
	if response.StatusCode/100 == 2 {
		return w.dialect.read(answer, response.Header, b)
	}
	return sink.Result{}, w.failure(response, answer)
}

func (w *Web) request(ctx context.Context, b sink.Batch, body []byte) (*http.Request, error) {
	address := w.dialect.address(w.url, b)
	packed := w.compress != nil
	if packed {
		w.packed.Reset()
		w.compress.Reset(&w.packed)
		if _, err := w.compress.Write(body); err != nil {
			return nil, err
		}
		if err := w.compress.Close(); err != nil {
			return nil, err
		}
		body = w.packed.Bytes()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", w.dialect.media())
	request.Header.Set("User-Agent", "tare")
	request.Header.Set("Idempotency-Key", b.Name())
	if trace := b.Traceparent(); trace != "" {
		request.Header.Set(sink.TraceHeader, trace)
	}
	if packed {
		request.Header.Set("Content-Encoding", "gzip")
	}
	auth, err := w.auth()
	if auth != "" {
		request.Header.Set("Authorization", auth)
	}
	return request, err
}

// failure is what an answer other than 2xx means.
func (w *Web) failure(r *http.Response, answer []byte) error {
	text := fmt.Sprintf("answered %d: %s", r.StatusCode, format.Line(string(answer[:min(len(answer), 500)]), 200))
	if r.StatusCode == http.StatusRequestEntityTooLarge || w.dialect.refuses(r.StatusCode, r.Header, answer) {
		return &sink.Refused{Reason: text}
	}
	err := errors.New(text)
	if after, ok := retryAfter(r.Header.Get("Retry-After"), w.now()); ok {
		return &sink.Later{Err: err, After: after}
	}
	return err
}

// retryAfter reads a number of seconds or a date.
func retryAfter(text string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && seconds >= 0 && seconds < 1<<30 {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	return max(0, at.Sub(now)), err == nil
}

// quiet is an error of the client without the URL, which may hold secrets.
func quiet(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// without are the indices of all events but the dead ones.
func without(b sink.Batch, dead []sink.Dead) (rest []int) {
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

// Promise says what an answer of 2xx means.
func (w *Web) Promise() sink.Promise {
	p := w.dialect.promise()
	p.To = w.target.String()
	return p
}

// Close closes idle connections.
func (w *Web) Close() error {
	w.transport.CloseIdleConnections()
	return nil
}
