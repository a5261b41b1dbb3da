package ingest

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"slices"
	"strings"
)

// This file checks the headers of a request before its body is read, e.g. the token and the media type.

// Format is the encoding of a body, as a media type.
type Format string

// Formats of bodies.
const (
	JSON     Format = "application/json"
	Protobuf Format = "application/x-protobuf"
	Gob      Format = "application/x-gob"
)

// Head contains the headers of a request that the service reads; "" if the request does not have one.
type Head struct {
	Authorization   string // e.g. Bearer TOKEN
	ContentType     string
	ContentEncoding string
	Length          int64  // declared length of the body in bytes; -1 if not declared
	Traceparent     string // as W3C Trace Context defines it; "" if the request has none
}

// Admit checks the head of a request: its token, media type, content encoding and declared length. It
// returns the encoding of the body. The error is a [Refusal]. formats are the encodings that the stack
// (the HTTP library and decoders around the service) supports; none means only JSON.
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

// hasToken reports whether an Authorization header has the required token. It compares hashes in
// constant time, so that the time of a response does not reveal the token or its length.
func (s *Service) hasToken(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	hash := sha256.Sum256([]byte(strings.Trim(token, " ")))
	isToken := subtle.ConstantTimeCompare(hash[:], s.token[:]) == 1
	return isToken && strings.EqualFold(scheme, "Bearer")
}

// mediaType returns a Content-Type without its parameters. It returns false if the header is not
// valid or has another charset than UTF-8.
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

// coding is the compression of a body.
type coding int

const (
	plain   coding = iota // not compressed
	gzipped               // in gzip, of one or more members
	unknown               // another coding, which the service does not accept
)

// parseCoding returns the compression that the header Content-Encoding declares.
func parseCoding(contentEncoding string) coding {
	switch s := strings.Trim(contentEncoding, " \t"); {
	case s == "" || strings.EqualFold(s, "identity"):
		return plain
	case strings.EqualFold(s, "gzip") || strings.EqualFold(s, "x-gzip"):
		return gzipped
	}
	return unknown
}
