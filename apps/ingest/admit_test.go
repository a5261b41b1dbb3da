package ingest

import (
	"mime"
	"strings"
	"testing"
)

func TestAdmit(t *testing.T) {
	free, guarded := newService(t, Config{MaxBody: 1000}), newService(t, Config{MaxBody: 1000, Token: "s3cret"})
	all := []Format{JSON, Protobuf, Gob}
	for _, c := range []struct {
		s       *Service
		h       Head
		formats []Format
		want    Format
		status  int
		code    string
	}{
		{free, Head{ContentType: "application/json"}, nil, JSON, 0, ""},
		{free, Head{ContentType: "application/json", Length: 1000}, nil, JSON, 0, ""},
		{free, Head{ContentType: "application/json", Length: -1}, nil, JSON, 0, ""},
		{free, Head{ContentType: "application/json; charset=utf-8"}, nil, JSON, 0, ""},
		{free, Head{ContentType: "Application/JSON;Charset=\"UTF-8\" "}, nil, JSON, 0, ""},
		{free, Head{ContentType: "application/json; version=1"}, nil, JSON, 0, ""},
		{free, Head{ContentType: "application/x-protobuf"}, all, Protobuf, 0, ""},
		{free, Head{ContentType: "application/x-gob"}, all, Gob, 0, ""},
		{free, Head{ContentType: "application/json"}, all, JSON, 0, ""},
		{free, Head{ContentType: "application/json", ContentEncoding: "gzip"}, nil, JSON, 0, ""},
		{free, Head{ContentType: "application/json", ContentEncoding: " GZIP "}, nil, JSON, 0, ""},
		{free, Head{ContentType: "application/json", ContentEncoding: "x-gzip"}, nil, JSON, 0, ""},
		{free, Head{ContentType: "application/json", ContentEncoding: "Identity"}, nil, JSON, 0, ""},
		{free, Head{ContentType: "application/json", Authorization: "Basic eA=="}, nil, JSON, 0, ""},

		{free, Head{ContentType: ""}, nil, "", 415, "media_type"},
		{free, Head{ContentType: "text/plain"}, nil, "", 415, "media_type"},
		{free, Head{ContentType: "application/jsonl"}, nil, "", 415, "media_type"},
		{free, Head{ContentType: "application/json; charset=latin1"}, nil, "", 415, "media_type"},
		{free, Head{ContentType: "application/json; charset=utf-8; charset=utf-16"}, nil, "", 415, "media_type"},
		{free, Head{ContentType: "application/json; charset="}, nil, "", 415, "media_type"},
		{free, Head{ContentType: "application/json, text/plain"}, nil, "", 415, "media_type"},
		{free, Head{ContentType: "application/x-gob"}, nil, "", 415, "media_type"},
		{free, Head{ContentType: "application/x-gob"}, []Format{JSON, Protobuf}, "", 415, "media_type"},
		{free, Head{ContentType: "application/json"}, []Format{Gob}, "", 415, "media_type"},
		{free, Head{ContentType: "application/json", ContentEncoding: "br"}, nil, "", 415, "encoding"},
		{free, Head{ContentType: "application/json", ContentEncoding: "gzip, gzip"}, nil, "", 415, "encoding"},
		{free, Head{ContentType: "application/json", Length: 1001}, nil, "", 413, "too_large"},

		{guarded, Head{ContentType: "application/json", Authorization: "Bearer s3cret"}, nil, JSON, 0, ""},
		{guarded, Head{ContentType: "application/json", Authorization: "bearer  s3cret"}, nil, JSON, 0, ""},
		{guarded, Head{ContentType: "application/json"}, nil, "", 401, "unauthorized"},
		{guarded, Head{ContentType: "application/json", Authorization: "Bearer"}, nil, "", 401, "unauthorized"},
		{guarded, Head{ContentType: "application/json", Authorization: "s3cret"}, nil, "", 401, "unauthorized"},
		{guarded, Head{ContentType: "application/json", Authorization: "Bearer S3cret"}, nil, "", 401, "unauthorized"},
		{guarded, Head{ContentType: "application/json", Authorization: "Bearer s3cret2"}, nil, "", 401, "unauthorized"},
		{guarded, Head{ContentType: "application/json", Authorization: "Basic s3cret"}, nil, "", 401, "unauthorized"},

		// What is looked at first counts.
		{guarded, Head{ContentType: "text/plain", Length: 1001}, nil, "", 401, "unauthorized"},
		{free, Head{ContentType: "text/plain", ContentEncoding: "br", Length: 1001}, nil, "", 415, "media_type"},
		{free, Head{ContentType: "application/json", ContentEncoding: "br", Length: 1001}, nil, "", 415, "encoding"},
	} {
		got, err := c.s.Admit(c.h, c.formats...)
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.h, got, c.want)
		}
		wantRefusal(t, c.h.ContentType, err, c.status, c.code)
	}
}

// Whatever a media type looks like, it is read as package mime reads it, and
// what is said to be no UTF-8 is not taken.
func FuzzMediaType(f *testing.F) {
	for _, s := range []string{
		"", "application/json", "application/json; charset=utf-8", "application/json;charset=\"UTF-8\"", "application/json; charset=latin1",
		"APPLICATION/JSON ; a=b", "application/json;", "application/json; charset*0=utf; charset*1=-8", "text/plain; charset", "/", "a/b; c=\"",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := mediaType(s)
		name, params, err := mime.ParseMediaType(s)
		charset, has := params["charset"]
		want := err == nil && (!has || strings.EqualFold(charset, "utf-8"))
		if ok != want || ok && string(got) != name {
			t.Errorf("%q: %q %v, want %q %v", s, got, ok, name, want)
		}
	})
}
