package traffic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load"
)

// readLines reads requests such as {"method":"GET","path":"/a"}. The method may be missing.
func (f *Feed) readLines(r io.Reader) error {
	return f.eachLine(r, maxLinesBytes, func(_ int, line string) error {
		q, err := parseRequest(line)
		if err == nil {
			f.addRequest(q)
		}
		return err
	})
}

// readDryRun reads what "tare load --dry-run --json" prints: {…, "requests": [{"path":"/a"}, …]}. It
// reads one by one, because the document may be long.
func (f *Feed) readDryRun(in *boundedReader) error {
	in.refill()
	dec := json.NewDecoder(in)
	if err := enterFields(dec, "a dry run of tare load", "requests"); err != nil {
		return cmp.Or(in.failed, err)
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return cmp.Or(in.failed, errors.New("requests is not an array"))
	}
	for n := 1; ; n++ {
		in.refill()
		if !dec.More() {
			if _, err := dec.Token(); err != nil {
				return cmp.Or(in.failed, errors.New("the file ends within its requests"))
			}
			return leaveFields(dec, in, "requests")
		}
		if f.reachesBound() {
			return nil
		}
		var text json.RawMessage
		if err := dec.Decode(&text); err != nil {
			return cmp.Or(in.failed, err)
		}
		q, err := parseRequest(string(text))
		if err != nil {
			f.recordBroken(0, fmt.Sprintf("request %d", n), err)
			continue
		}
		f.addRequest(q)
	}
}

// parseRequest parses what WriteLine writes.
func parseRequest(line string) (load.Request, error) {
	var q wire.HTTPRequest
	dec := json.NewDecoder(strings.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		return load.Request{}, fmt.Errorf("not a request: %w", plainError(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return load.Request{}, errors.New("more than a request on the line")
	}
	if q.Path == "" {
		return load.Request{}, errors.New("a request without a path")
	}
	r := load.Request{Method: cmp.Or(q.Method, "GET"), Path: q.Path, Body: q.Body}
	for _, name := range slices.Sorted(maps.Keys(q.Header)) {
		r.Header = append(r.Header, [2]string{name, q.Header[name]})
	}
	err := load.CheckRequest(r) // CheckRequest needs a method
	r.Method = q.Method         // it stays "" if the line has none
	return r, err
}

// WriteLine writes a request as a line of the format Lines.
func WriteLine(w io.Writer, r load.Request) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(NewLine(r))
}

// NewLine returns a request in the format Lines. It joins the values of headers with the same name.
func NewLine(r load.Request) wire.HTTPRequest {
	q := wire.HTTPRequest{Method: r.Method, Path: r.Path, Body: r.Body}
	for _, h := range r.Header {
		if q.Header == nil {
			q.Header = map[string]string{}
		}
		if earlier, isRepeated := q.Header[h[0]]; isRepeated {
			separator := ", "
			if strings.EqualFold(h[0], "cookie") { // RFC 9113, 8.2.3
				separator = "; "
			}
			h[1] = earlier + separator + h[1]
		}
		q.Header[h[0]] = h[1]
	}
	return q
}
