package ingest

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"slices"
	"strings"
)

// Format is how a body is encoded.
type Format string

// Formats, by their media types.
const (
	JSON     Format = "application/json"
	Protobuf Format = "application/x-protobuf"
	Gob      Format = "application/x-gob"
)

// Head is what a request says before its body.
type Head struct {
	Authorization   string
	ContentType     string
	ContentEncoding string
	Length          int64  // of the body; -1: not said
	Traceparent     string // of the request's trace; empty: it has none
}

// Admit looks at the head of a request, and says how its body is encoded:
// one of formats, or JSON where none are given.
func (s *Service) Admit(h Head, formats ...Format) (Format, error) {
	if s.token != nil && !s.bears(h.Authorization) {
		return "", because(nil, unauthorized, "unauthorized", "a bearer token is required")
	}
	format, ok := mediaType(h.ContentType)
	if !ok || len(formats) == 0 && format != JSON || len(formats) > 0 && !slices.Contains(formats, format) {
		return "", badType(formats)
	}
	if codingOf(h.ContentEncoding) == unknown {
		return "", badEncoding()
	}
	if h.Length > s.maxBody {
		return "", overlong(s.maxBody)
	}
	return format, nil
}

// bears compares hashes, in constant time.
func (s *Service) bears(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	sum := sha256.Sum256([]byte(strings.Trim(token, " ")))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// mediaType is a Content-Type without its parameters. Text is UTF-8 here, and
// what says that it is anything else is not ok.
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

// coding is how a body is packed.
type coding int

const (
	plain coding = iota
	packed
	unknown
)

func codingOf(contentEncoding string) coding {
	switch s := strings.Trim(contentEncoding, " \t"); {
	case s == "" || strings.EqualFold(s, "identity"):
		return plain
	case strings.EqualFold(s, "gzip") || strings.EqualFold(s, "x-gzip"):
		return packed
	}
	return unknown
}
