package ingest

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"slices"
	"strings"
)

// Format is the encoding of a body.
type Format string

// Formats, by their media types.
const (
	JSON     Format = "application/json"
	Protobuf Format = "application/x-protobuf"
	Gob      Format = "application/x-gob"
)

// Head contains the headers of a request.
type Head struct {
	Authorization   string
	ContentType     string
	ContentEncoding string
	Length          int64  // of the body; -1 if not declared
	Traceparent     string // of the request's trace; "" if it has none
}

// Admit checks the head of a request, and returns the encoding of its body: one of formats, or JSON
// if there are none.
func (s *Service) Admit(h Head, formats ...Format) (Format, error) {
	if s.token != nil && !s.hasToken(h.Authorization) {
		return "", newRefusal(nil, unauthorized, "unauthorized", "a bearer token is required")
	}
	format, ok := mediaType(h.ContentType)
	if !ok || len(formats) == 0 && format != JSON || len(formats) > 0 && !slices.Contains(formats, format) {
		return "", badType(formats)
	}
	if codingOf(h.ContentEncoding) == unknown {
		return "", badEncoding()
	}
	if h.Length > s.maxBody {
		return "", tooLargeError(s.maxBody)
	}
	return format, nil
}

// hasToken compares hashes, in constant time.
func (s *Service) hasToken(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	sum := sha256.Sum256([]byte(strings.Trim(token, " ")))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// mediaType returns a Content-Type without its parameters. Text must be UTF-8: it returns false for
// other charsets.
func mediaType(s string) (Format, bool) {
	const utf8 = "; charset=utf-8"
	if strings.HasPrefix(s, string(JSON)) {
		if rest := s[len(JSON):]; rest == "" || rest == utf8 {
			return JSON, true
		}
	}
	name, params, err := mime.ParseMediaType(s)
	charset, has := params["charset"]
	if err != nil || has && !strings.EqualFold(charset, "utf-8") {
		return "", false
	}
	return Format(name), true
}

// coding is the compression of a body.
type coding int

const (
	plain coding = iota
	gzipped
	unknown
)

func codingOf(contentEncoding string) coding {
	switch s := strings.Trim(contentEncoding, " \t"); {
	case s == "" || strings.EqualFold(s, "identity"):
		return plain
	case strings.EqualFold(s, "gzip") || strings.EqualFold(s, "x-gzip"):
		return gzipped
	}
	return unknown
}
