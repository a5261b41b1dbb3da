package ingest

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"slices"
	"strings"
)

// Format is the encoding of a body, as a media type.
type Format string

// Formats of bodies.
const (
	JSON     Format = "application/json"
	Protobuf Format = "application/x-protobuf"
	Gob      Format = "application/x-gob"
)

// Head has the headers that the service reads; "" means missing.
type Head struct {
	Authorization   string // e.g. Bearer TOKEN
	ContentType     string
	ContentEncoding string
	Length          int64  // declared bytes of the body; -1 if not declared
	Traceparent     string // see W3C Trace Context
}

// Admit checks token, media type, content encoding and declared length. It returns the encoding of the body.
// formats are those that the HTTP stack supports; none means JSON. The error is a [Refusal].
func (s *Service) Admit(h Head, formats ...Format) (Format, error) {
	needsToken := s.token != nil
	if needsToken && !s.hasToken(h.Authorization) {
		return "", newRefusal(nil, unauthorized, "unauthorized", "a bearer token is required")
	}
	format, isValid := mediaType(h.ContentType)
	isSupported := slices.Contains(formats, format)
	if len(formats) == 0 {
		isSupported = format == JSON
	}
	if !isValid || !isSupported {
		return "", badType(formats)
	}
	if parseCoding(h.ContentEncoding) == unknown {
		return "", badEncoding()
	}
	if h.Length > s.maxBody {
		return "", tooLargeError(s.maxBody)
	}
	return format, nil
}

// hasToken reports whether an Authorization header has the required token. It compares hashes in constant time,
// which does not reveal the token.
func (s *Service) hasToken(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	hash := sha256.Sum256([]byte(strings.Trim(token, " ")))
	isToken := subtle.ConstantTimeCompare(hash[:], s.token[:]) == 1
	return isToken && strings.EqualFold(scheme, "Bearer")
}

// mediaType returns a Content-Type without parameters. ok is false if it is invalid or has another charset than
// UTF-8.
func mediaType(s string) (format Format, ok bool) {
	if s == string(JSON) || s == string(JSON)+"; charset=utf-8" { // common cases, without an allocation
		return JSON, true
	}
	name, params, err := mime.ParseMediaType(s)
	charset, hasCharset := params["charset"]
	isOtherCharset := hasCharset && !strings.EqualFold(charset, "utf-8")
	if err != nil || isOtherCharset {
		return "", false
	}
	return Format(name), true
}

type coding int

const (
	plain coding = iota // not compressed
	gzipped
	unknown // not accepted
)

func parseCoding(contentEncoding string) coding {
	switch s := strings.Trim(contentEncoding, " \t"); {
	case s == "" || strings.EqualFold(s, "identity"):
		return plain
	case strings.EqualFold(s, "gzip") || strings.EqualFold(s, "x-gzip"):
		return gzipped
	}
	return unknown
}
