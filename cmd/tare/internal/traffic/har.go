package traffic

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tarebench/tare/load"
)

// entry is a request of an HTTP archive; everything else in it is passed over.
type entry struct {
	Started string `json:"startedDateTime"`
	Request struct {
		Method  string `json:"method"`
		URL     string `json:"url"`
		Headers []struct{ Name, Value string }
		Post    *struct{ Text, Encoding string } `json:"postData"`
	} `json:"request"`
}

// readHAR reads an HTTP archive one entry after another.
func (f *Feed) readHAR(r io.Reader, secrets bool) error {
	dec := json.NewDecoder(r)
	if err := enter(dec, "log", "entries"); err != nil {
		return err
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return errors.New("log.entries is not an array")
	}
	var first time.Time
	for n := 1; dec.More(); n++ {
		if f.full() {
			return nil
		}
		var e entry
		var syntax *json.SyntaxError
		err := dec.Decode(&e)
		if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			f.broken(fmt.Sprintf("entry %d", n), err)
			return nil // nothing behind it can be read
		}
		var q load.Request
		var at time.Time
		if err == nil {
			q, at, err = f.request(e, secrets)
		}
		if err != nil {
			f.broken(fmt.Sprintf("entry %d", n), err)
			continue
		}
		if first.IsZero() {
			first = at
		}
		f.Requests, f.Times = append(f.Requests, q), append(f.Times, at.Sub(first))
	}
	return nil
}

// enter goes into a field of an object, and into one of that.
func enter(dec *json.Decoder, names ...string) error {
	for _, name := range names {
		if t, err := dec.Token(); err != nil || t != json.Delim('{') {
			return errors.New("not an HTTP archive: no log.entries")
		}
		for {
			if !dec.More() {
				return errors.New("not an HTTP archive: no log.entries")
			}
			t, err := dec.Token()
			if err != nil {
				return err
			}
			if t == name {
				break
			}
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return err
			}
		}
	}
	return nil
}

// request is the request of an entry, without what is about its connection.
func (f *Feed) request(e entry, secrets bool) (q load.Request, at time.Time, err error) {
	if at, err = time.Parse(time.RFC3339Nano, e.Started); err != nil {
		return q, at, fmt.Errorf("startedDateTime %q is not a time", e.Started)
	}
	q.Method = e.Request.Method
	if q.Path, err = pathOf(e.Request.URL); err != nil {
		return q, at, err
	}
	for _, h := range e.Request.Headers {
		switch name := strings.ToLower(h.Name); {
		case strings.HasPrefix(name, ":"), name == "host", name == "content-length", name == "connection", name == "keep-alive", name == "transfer-encoding", name == "upgrade", name == "proxy-connection", name == "te", name == "expect":
		case secret(name) && !secrets:
			f.Secrets++
		default:
			q.Header = append(q.Header, [2]string{h.Name, h.Value})
		}
	}
	if p := e.Request.Post; p != nil {
		if q.Body = []byte(p.Text); p.Encoding == "base64" {
			if q.Body, err = base64.StdEncoding.DecodeString(p.Text); err != nil {
				return q, at, fmt.Errorf("postData: %w", err)
			}
		}
	}
	return q, at, load.CheckRequest(q)
}
