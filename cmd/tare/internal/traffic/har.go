package traffic

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/load"
)

// entry is a request of an HTTP archive; other fields are ignored.
type entry struct {
	Started string `json:"startedDateTime"`
	Request struct {
		Method   string
		URL      string
		Headers  []struct{ Name, Value string }
		BodySize any
		Post     *postData `json:"postData"`
	}
	Response struct {
		Failure any `json:"_error"` // of Chrome, e.g. net::ERR_BLOCKED_BY_CLIENT
	}
	Type  any `json:"_resourceType"` // of Chrome and Safari, e.g. websocket
	Cache any `json:"_fromCache"`    // of Chrome: disk, memory; of others true
	Fetch any `json:"_fetchType"`    // of Safari, e.g. Disk Cache
}

// postData is the body of a request.
type postData struct {
	Text, Encoding, MimeType string
	Params                   []param
}

// param is a field of a form, in plain text.
type param struct {
	Name                  string
	Value                 *string // nil if the archive lacks it
	FileName, ContentType string
}

// whyUnsent returns why a browser did not send an entry over HTTP, or "" if it did.
func (e entry) whyUnsent() string {
	text := func(v any) string {
		s, _ := v.(string)
		return s
	}
	scheme, _, hasScheme := strings.Cut(e.Request.URL, ":")
	hasScheme = hasScheme && !strings.ContainsAny(scheme, "/?#")
	failure := text(e.Response.Failure)
	switch {
	case strings.EqualFold(scheme, "ws"), strings.EqualFold(scheme, "wss"), text(e.Type) == "websocket":
		return "WebSocket"
	case hasScheme && !isHTTP(scheme):
		return strings.ToLower(scheme) + ": URL"
	case text(e.Cache) != "", e.Cache == true, strings.HasSuffix(text(e.Fetch), "Cache"):
		return "cached answer"
	case strings.Contains(failure, "ERR_BLOCKED_BY_") && !strings.HasSuffix(failure, "_RESPONSE") && !strings.HasSuffix(failure, "_ORB"): // the server did answer these two
		return "blocked request"
	}
	return ""
}

// boundedReader is a reader that fails after most bytes until it is refilled, which limits what
// is read of a document at a time.
type boundedReader struct {
	r          io.Reader
	most, left int
	failed     error // error of r except io.EOF
}

func (p *boundedReader) refill() { p.left = p.most }

func (p *boundedReader) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, fmt.Errorf("longer than %d bytes", p.most)
	}
	n, err := p.r.Read(b[:min(len(b), p.left)])
	p.left -= n
	if err != nil && err != io.EOF {
		p.failed = err
	}
	return n, err
}

// readHAR reads an HTTP archive one entry after another.
func (f *Feed) readHAR(in *boundedReader) error {
	in.refill()
	dec := json.NewDecoder(in)
	if err := enterFields(dec, "log", "entries"); err != nil {
		return cmp.Or(in.failed, err)
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return cmp.Or(in.failed, errors.New("log.entries is not an array"))
	}
	var recorded clock
	for n := 1; ; n++ {
		in.refill()
		where := fmt.Sprintf("entry %d", n)
		if !dec.More() {
			if in.failed != nil {
				return in.failed
			}
			if _, err := dec.Token(); err != nil {
				f.recordBroken(0, where, errors.New("the file ends before it"))
			}
			return nil
		}
		if f.isFull() {
			return nil
		}
		var e entry
		var kind *json.UnmarshalTypeError
		err := dec.Decode(&e)
		if in.failed != nil {
			return in.failed
		}
		if err != nil && !errors.As(err, &kind) {
			f.recordBroken(0, where, fmt.Errorf("%w; nothing behind it can be read", err))
			return nil
		}
		if why := e.whyUnsent(); err == nil && why != "" {
			f.countSkipped(why)
			continue
		}
		var q load.Request
		if err == nil {
			q, err = f.archivedRequest(e)
		}
		if err != nil {
			f.recordBroken(0, where, err)
			continue
		}
		at, unread := time.Parse(time.RFC3339Nano, e.Started)
		if unread != nil {
			unread = fmt.Errorf("startedDateTime %q is not a time", e.Started)
		}
		f.addTimed(q, &recorded, at, unread, 0, where)
	}
}

// enterFields advances dec to the value of nested fields.
func enterFields(dec *json.Decoder, names ...string) error {
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

// archivedRequest returns the request of an entry, without headers of its connection.
func (f *Feed) archivedRequest(e entry) (q load.Request, err error) {
	q.Method = e.Request.Method
	target, _, _ := strings.Cut(e.Request.URL, "#")
	if q.Path, err = pathOf(target); err != nil {
		return q, err
	}
	q.Path = f.publicQuery(q.Path)
	kind := ""
	for _, h := range e.Request.Headers {
		if strings.EqualFold(h.Name, "content-type") {
			kind = h.Value
		}
		f.addHeader(&q, h.Name, h.Value)
	}
	p := e.Request.Post
	switch size, _ := e.Request.BodySize.(float64); {
	case p != nil && p.Text != "":
		if q.Body = []byte(p.Text); p.Encoding == "base64" {
			if q.Body, err = base64.StdEncoding.DecodeString(p.Text); err != nil {
				return q, fmt.Errorf("postData: %w", err)
			}
		}
		q.Body = f.publicBody(cmp.Or(p.MimeType, kind), q.Body)
	case p != nil && len(p.Params) > 0:
		var sent string
		if sent, q.Body, err = encodeForm(p.MimeType, kind, p.Params); err != nil {
			return q, err
		}
		if kind == "" || strings.Contains(sent, "boundary="+boundary) {
			q.Header = slices.DeleteFunc(q.Header, func(h [2]string) bool { return strings.EqualFold(h[0], "content-type") })
			q.Header = append(q.Header, [2]string{"Content-Type", sent})
		}
		q.Body = f.publicBody(sent, q.Body)
	case size > 0:
		return q, fmt.Errorf("the archive does not have the %.0f bytes of its body", size)
	}
	return q, load.CheckRequest(q)
}

// boundary separates the parts of a form if the archive has no boundary.
const boundary = "tare-form-boundary"

// encodeForm returns the body of a form and its content type: kind of postData, or header if
// that has the same media type and hence the boundary.
func encodeForm(kind, header string, params []param) (sent string, body []byte, err error) {
	media, options, err := mime.ParseMediaType(cmp.Or(kind, header, "application/x-www-form-urlencoded"))
	sent = cmp.Or(kind, header, media)
	if of, more, wrong := mime.ParseMediaType(header); wrong == nil && of == media {
		sent, options = header, more
	}
	switch {
	case err == nil && media == "application/x-www-form-urlencoded":
		var pairs []string
		for _, p := range params {
			if p.Value == nil {
				return "", nil, fmt.Errorf("the archive does not have the value of the field %q", p.Name)
			}
			pairs = append(pairs, url.QueryEscape(p.Name)+"="+url.QueryEscape(*p.Value))
		}
		return sent, []byte(strings.Join(pairs, "&")), nil
	case err != nil || media != "multipart/form-data":
		return "", nil, fmt.Errorf("its body is the fields of a form, and its content type %q is not that of a form", sent)
	}
	if options["boundary"] == "" {
		sent = "multipart/form-data; boundary=" + boundary
		options = map[string]string{"boundary": boundary}
	}
	escape := strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22").Replace // as browsers do
	var b bytes.Buffer
	for _, p := range params {
		if p.Value == nil {
			return "", nil, fmt.Errorf("the archive does not have the content of the field %q", p.Name)
		}
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", options["boundary"], escape(p.Name))
		if p.FileName != "" {
			fmt.Fprintf(&b, "; filename=\"%s\"", escape(p.FileName))
		}
		if p.ContentType != "" {
			fmt.Fprintf(&b, "\r\nContent-Type: %s", strings.NewReplacer("\r", "", "\n", "").Replace(p.ContentType))
		}
		fmt.Fprintf(&b, "\r\n\r\n%s\r\n", *p.Value)
	}
	fmt.Fprintf(&b, "--%s--\r\n", options["boundary"])
	return sent, b.Bytes(), nil
}
