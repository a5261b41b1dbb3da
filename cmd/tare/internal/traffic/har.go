package traffic

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tarebench/tare/load"
)

// entry is an entry of an HTTP archive (HAR), a file of requests that a browser has recorded.
type entry struct {
	Started string `json:"startedDateTime"`
	Request struct {
		Method  string `json:"method"`
		URL     string `json:"url"`
		Headers []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"headers"`
		Query    json.RawMessage `json:"queryString"` // read only if the URL has no query
		BodySize any             `json:"bodySize"`
		Post     *postData       `json:"postData"`
	} `json:"request"`
	Response struct {
		Failure any `json:"_error"` // error in Chrome, e.g. net::ERR_BLOCKED_BY_CLIENT
	} `json:"response"`
	Type  any `json:"_resourceType"` // type in Chrome and Safari, e.g. websocket
	Cache any `json:"_fromCache"`    // "disk" or "memory" in Chrome, true in other browsers
	Fetch any `json:"_fetchType"`    // source in Safari, e.g. Disk Cache
}

type postData struct {
	Text     string  `json:"text"`
	Encoding string  `json:"encoding"`
	MimeType string  `json:"mimeType"`
	Params   []param `json:"params"`
}

// param is a field of a form or a parameter of a query. Its texts are not URL-encoded.
type param struct {
	Name        string  `json:"name"`
	Value       *string `json:"value"` // nil if the archive lacks it
	FileName    string  `json:"fileName"`
	ContentType string  `json:"contentType"`
}

// whyUnsent returns why the browser did not send a request, e.g. "cached answer".
func (e entry) whyUnsent() string {
	text := func(v any) string {
		s, _ := v.(string)
		return s
	}
	scheme, _, hasScheme := strings.Cut(e.Request.URL, ":")
	hasScheme = hasScheme && !strings.ContainsAny(scheme, "/?#")
	failure := text(e.Response.Failure)
	// Such a failure means that the browser blocked the response: it had sent the request.
	isBlockedResponse := strings.HasSuffix(failure, "_RESPONSE") || strings.HasSuffix(failure, "_ORB")
	switch {
	case strings.EqualFold(scheme, "ws"), strings.EqualFold(scheme, "wss"), text(e.Type) == "websocket":
		return "WebSocket"
	case hasScheme && !isHTTP(scheme):
		return strings.ToLower(scheme) + ": URL"
	case text(e.Cache) != "", e.Cache == true, strings.HasSuffix(text(e.Fetch), "Cache"):
		return "cached answer"
	case strings.Contains(failure, "ERR_BLOCKED_BY_") && !isBlockedResponse:
		return "blocked request"
	}
	return ""
}

// readHAR reads an HTTP archive, {"log": {"entries": [entry, …]}}, one entry after another.
func (f *Feed) readHAR(in *boundedReader) error {
	in.refill()
	dec := json.NewDecoder(in)
	if err := enterFields(dec, "an HTTP archive", "log", "entries"); err != nil {
		return cmp.Or(in.failed, err)
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return cmp.Or(in.failed, errors.New("log.entries is not an array"))
	}
	var times clock
	for n := 1; ; n++ {
		in.refill()
		where := fmt.Sprintf("entry %d", n)
		if !dec.More() {
			if in.failed != nil {
				return in.failed
			}
			if _, err := dec.Token(); err != nil {
				f.recordBroken(0, where, errors.New("the file ends before it"))
				return nil
			}
			return leaveFields(dec, in, "log", "entries")
		}
		if f.reachesBound() {
			return nil
		}
		var e entry
		var wrongType *json.UnmarshalTypeError // after such an error the decoder can read the next entry
		err := dec.Decode(&e)
		if in.failed != nil {
			return in.failed
		}
		if err != nil && !errors.As(err, &wrongType) {
			f.recordBroken(0, where, fmt.Errorf("%w; nothing after it can be read", err))
			return nil
		}
		if why := e.whyUnsent(); err == nil && why != "" {
			f.countSkipped(why)
			continue
		}
		var q load.Request
		if err = plainError(err); err == nil {
			q, err = f.archivedRequest(e)
		}
		if err != nil {
			f.recordBroken(0, where, err)
			continue
		}
		recorded, err := time.Parse(time.RFC3339Nano, e.Started)
		if err != nil {
			err = fmt.Errorf("startedDateTime %q is not a time", e.Started)
		}
		f.addTimed(q, &times, recorded, err, 0, where)
	}
}

// archivedRequest omits headers of the connection and secret values. It fails if the archive lacks the
// body.
func (f *Feed) archivedRequest(e entry) (q load.Request, err error) {
	q.Method = e.Request.Method
	target, _, _ := strings.Cut(e.Request.URL, "#")
	if target, err = withQuery(target, e.Request.Query); err == nil {
		q.Path, err = pathOf(target)
	}
	if err != nil {
		return q, err
	}
	q.Path = f.removeQuerySecrets(q.Path)
	contentType, coding := "", ""           // values of the headers; "" if absent
	size, _ := e.Request.BodySize.(float64) // 0 if it is not a number
	for _, h := range e.Request.Headers {
		switch strings.ToLower(h.Name) {
		case "content-type":
			contentType = h.Value
		case "content-encoding":
			coding = h.Value
		case "content-length":
			length, _ := strconv.ParseInt(h.Value, 10, 64)
			size = max(size, float64(length))
		}
		f.addHeader(&q, h.Name, h.Value)
	}
	p := e.Request.Post
	switch {
	case p != nil && p.Text != "":
		if q.Body = []byte(p.Text); p.Encoding == "base64" {
			if q.Body, err = base64.StdEncoding.DecodeString(p.Text); err != nil {
				return q, fmt.Errorf("postData: %w", err)
			}
		}
		switch {
		case coding == "" || strings.EqualFold(coding, "identity"): // the body was not compressed
		case isUnpacked(q.Body):
			removeHeader(&q, "content-encoding")
		case p.Encoding != "base64":
			return q, fmt.Errorf("its body is binary and was sent compressed (%s): the text in the archive may not have all its bytes", coding)
		}
		q.Body = f.emptyBodySecrets(cmp.Or(p.MimeType, contentType), q.Body)
	case p != nil && len(p.Params) > 0:
		var sent string
		if sent, q.Body, err = encodeForm(p.MimeType, contentType, p.Params); err != nil {
			return q, err
		}
		hasNewBoundary := strings.Contains(sent, "boundary="+boundary)
		if contentType == "" || hasNewBoundary {
			removeHeader(&q, "content-type")
			q.Header = append(q.Header, [2]string{"Content-Type", sent})
		}
		removeHeader(&q, "content-encoding")
		q.Body = f.emptyBodySecrets(sent, q.Body)
	case size > 0:
		return q, fmt.Errorf("the archive does not have the %.0f bytes of its body", size)
	}
	return q, load.CheckRequest(q)
}

// withQuery adds the queryString of an archive to a URL without a query.
func withQuery(target string, queryString json.RawMessage) (string, error) {
	path, query, _ := strings.Cut(target, "?")
	if query != "" || queryString == nil {
		return target, nil
	}
	var list []param
	if err := json.Unmarshal(queryString, &list); err != nil {
		return "", fmt.Errorf("queryString: %w", plainError(err))
	}
	var pairs []string
	for _, p := range list {
		pair := queryEscape(p.Name)
		if p.Value != nil {
			pair += "=" + queryEscape(*p.Value)
		}
		pairs = append(pairs, pair)
	}
	if len(pairs) == 0 {
		return target, nil
	}
	return path + "?" + strings.Join(pairs, "&"), nil
}

// queryEscape escapes a space as %20, which forms accept, too.
func queryEscape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// isUnpacked reports whether the archive has the body decompressed, as text. Compressed data is not
// printable UTF-8.
func isUnpacked(body []byte) bool {
	return utf8.Valid(body) && !bytes.ContainsFunc(body, func(c rune) bool {
		return c == utf8.RuneError || unicode.IsControl(c) && !unicode.IsSpace(c)
	})
}

func removeHeader(q *load.Request, name string) {
	q.Header = slices.DeleteFunc(q.Header, func(h [2]string) bool { return strings.EqualFold(h[0], name) })
}

const boundary = "tare-form-boundary"

// encodeForm returns the body of a form and its content type. Of equal media types it prefers header,
// which has the boundary.
func encodeForm(mimeType, header string, params []param) (contentType string, body []byte, err error) {
	media, options, err := mime.ParseMediaType(cmp.Or(mimeType, header, "application/x-www-form-urlencoded"))
	contentType = cmp.Or(mimeType, header, media)
	headerMedia, headerOptions, headerErr := mime.ParseMediaType(header)
	if headerErr == nil && headerMedia == media {
		contentType, options = header, headerOptions
	}
	switch {
	case err == nil && media == "application/x-www-form-urlencoded":
		body, err = encodeURLForm(params)
		return contentType, body, err
	case err != nil || media != "multipart/form-data":
		return "", nil, fmt.Errorf("its body is the fields of a form, and its content type %q is not that of a form", contentType)
	}
	if options["boundary"] == "" {
		contentType = "multipart/form-data; boundary=" + boundary
		options = map[string]string{"boundary": boundary}
	}
	body, err = encodeMultipart(params, options["boundary"])
	return contentType, body, err
}

func encodeURLForm(params []param) ([]byte, error) {
	var pairs []string
	for _, p := range params {
		if p.Value == nil {
			return nil, fmt.Errorf("the archive does not have the value of the field %q", p.Name)
		}
		pairs = append(pairs, url.QueryEscape(p.Name)+"="+url.QueryEscape(*p.Value))
	}
	return []byte(strings.Join(pairs, "&")), nil
}

func encodeMultipart(params []param, boundary string) ([]byte, error) {
	escape := strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22").Replace // as browsers do
	var b bytes.Buffer
	for _, p := range params {
		if p.Value == nil {
			return nil, fmt.Errorf("the archive does not have the content of the field %q", p.Name)
		}
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, escape(p.Name))
		if p.FileName != "" {
			fmt.Fprintf(&b, "; filename=\"%s\"", escape(p.FileName))
		}
		if p.ContentType != "" {
			fmt.Fprintf(&b, "\r\nContent-Type: %s", strings.NewReplacer("\r", "", "\n", "").Replace(p.ContentType))
		}
		fmt.Fprintf(&b, "\r\n\r\n%s\r\n", *p.Value)
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.Bytes(), nil
}
