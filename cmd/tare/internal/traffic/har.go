package traffic

import (
	"cmp"
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
		Post    *struct{ Text, Encoding, MimeType string } `json:"postData"`
	} `json:"request"`
}

// parcel is a reader that ends with an error after so many bytes, until it is
// refilled: so what is read of a document at a time has a bound.
type parcel struct {
	r          io.Reader
	most, left int
	failed     error // of r, not its end
}

func (p *parcel) refill() { p.left = p.most }

func (p *parcel) Read(b []byte) (int, error) {
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
func (f *Feed) readHAR(in *parcel) error {
	in.refill()
	dec := json.NewDecoder(in)
	if err := enter(dec, "log", "entries"); err != nil {
		return cmp.Or(in.failed, err)
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return cmp.Or(in.failed, errors.New("log.entries is not an array"))
	}
	var recorded clock
	for n := 1; ; n++ {
		in.refill()
		if !dec.More() {
			if in.failed != nil {
				return in.failed
			}
			if _, err := dec.Token(); err != nil {
				f.broken(0, fmt.Sprintf("entry %d", n), errors.New("the file ends before it"))
			}
			return nil
		}
		if f.full() {
			return nil
		}
		var e entry
		var kind *json.UnmarshalTypeError
		err := dec.Decode(&e)
		if in.failed != nil {
			return in.failed
		}
		if err != nil && !errors.As(err, &kind) {
			f.broken(0, fmt.Sprintf("entry %d", n), fmt.Errorf("%w; nothing behind it can be read", err))
			return nil
		}
		var q load.Request
		var at time.Time
		if err == nil {
			q, at, err = f.request(e)
		}
		var since time.Duration
		if err == nil {
			since, err = recorded.since(at)
		}
		if err != nil {
			f.broken(0, fmt.Sprintf("entry %d", n), err)
			continue
		}
		f.keep(q)
		f.Times = append(f.Times, since)
	}
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
func (f *Feed) request(e entry) (q load.Request, at time.Time, err error) {
	if at, err = time.Parse(time.RFC3339Nano, e.Started); err != nil {
		return q, at, fmt.Errorf("startedDateTime %q is not a time", e.Started)
	}
	q.Method = e.Request.Method
	if q.Path, err = pathOf(e.Request.URL); err != nil {
		return q, at, err
	}
	q.Path = f.plainQuery(q.Path)
	for _, h := range e.Request.Headers {
		switch name := strings.ToLower(h.Name); {
		case strings.HasPrefix(name, ":"), name == "host", name == "content-length", name == "connection", name == "keep-alive", name == "transfer-encoding", name == "upgrade", name == "proxy-connection", name == "te", name == "expect":
		case f.holdsBack(name):
		case name == "referer":
			q.Header = append(q.Header, [2]string{h.Name, f.plainQuery(h.Value)})
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
		q.Body = f.plainBody(p.MimeType, q.Body)
	}
	return q, at, load.CheckRequest(q)
}
