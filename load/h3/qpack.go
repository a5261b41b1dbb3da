package h3

import (
	"slices"

	"github.com/tarebench/tare/load/h2"
)

// A field is a header of a request or response. QPACK writes a field as an index of the static table, or
// as a literal. The first bits of a field show which (RFC 9204, section 4.5):
//
//	11      an index of the static table; 6 of its bits are in the first byte
//	01N1    a literal whose name is an index of the static table; 4 of its bits are in the first byte
//	001NH   a literal whose name is a string; 3 bits of its length are in the first byte
//
// The value of a literal is a string that begins with the bit H and 7 bits of its length. H means that the
// string is a Huffman code. N concerns only proxies; here it is 0 in fields that are sent.

// static is the static table of QPACK (RFC 9204, appendix A).
var static = [...][2]string{
	{":authority", ""}, {":path", "/"}, {"age", "0"}, {"content-disposition", ""}, {"content-length", "0"}, {"cookie", ""}, {"date", ""}, {"etag", ""},
	{"if-modified-since", ""}, {"if-none-match", ""}, {"last-modified", ""}, {"link", ""}, {"location", ""}, {"referer", ""}, {"set-cookie", ""},
	{":method", "CONNECT"}, {":method", "DELETE"}, {":method", "GET"}, {":method", "HEAD"}, {":method", "OPTIONS"}, {":method", "POST"}, {":method", "PUT"},
	{":scheme", "http"}, {":scheme", "https"},
	{":status", "103"}, {":status", "200"}, {":status", "304"}, {":status", "404"}, {":status", "503"},
	{"accept", "*/*"}, {"accept", "application/dns-message"}, {"accept-encoding", "gzip, deflate, br"}, {"accept-ranges", "bytes"},
	{"access-control-allow-headers", "cache-control"}, {"access-control-allow-headers", "content-type"}, {"access-control-allow-origin", "*"},
	{"cache-control", "max-age=0"}, {"cache-control", "max-age=2592000"}, {"cache-control", "max-age=604800"}, {"cache-control", "no-cache"},
	{"cache-control", "no-store"}, {"cache-control", "public, max-age=31536000"}, {"content-encoding", "br"}, {"content-encoding", "gzip"},
	{"content-type", "application/dns-message"}, {"content-type", "application/javascript"}, {"content-type", "application/json"},
	{"content-type", "application/x-www-form-urlencoded"}, {"content-type", "image/gif"}, {"content-type", "image/jpeg"}, {"content-type", "image/png"},
	{"content-type", "text/css"}, {"content-type", "text/html; charset=utf-8"}, {"content-type", "text/plain"}, {"content-type", "text/plain;charset=utf-8"},
	{"range", "bytes=0-"}, {"strict-transport-security", "max-age=31536000"}, {"strict-transport-security", "max-age=31536000; includesubdomains"},
	{"strict-transport-security", "max-age=31536000; includesubdomains; preload"}, {"vary", "accept-encoding"}, {"vary", "origin"},
	{"x-content-type-options", "nosniff"}, {"x-xss-protection", "1; mode=block"},
	{":status", "100"}, {":status", "204"}, {":status", "206"}, {":status", "302"}, {":status", "400"}, {":status", "403"}, {":status", "421"},
	{":status", "425"}, {":status", "500"}, {"accept-language", ""}, {"access-control-allow-credentials", "FALSE"}, {"access-control-allow-credentials", "TRUE"},
	{"access-control-allow-headers", "*"}, {"access-control-allow-methods", "get"}, {"access-control-allow-methods", "get, post, options"},
	{"access-control-allow-methods", "options"}, {"access-control-expose-headers", "content-length"}, {"access-control-request-headers", "content-type"},
	{"access-control-request-method", "get"}, {"access-control-request-method", "post"}, {"alt-svc", "clear"}, {"authorization", ""},
	{"content-security-policy", "script-src 'none'; object-src 'none'; base-uri 'none'"}, {"early-data", "1"}, {"expect-ct", ""}, {"forwarded", ""},
	{"if-range", ""}, {"origin", ""}, {"purpose", "prefetch"}, {"server", ""}, {"timing-allow-origin", "*"}, {"upgrade-insecure-requests", "1"},
	{"user-agent", ""}, {"x-forwarded-for", ""}, {"x-frame-options", "deny"}, {"x-frame-options", "sameorigin"},
}

// AppendSectionPrefix appends the prefix of a field section that uses no dynamic table.
func AppendSectionPrefix(b []byte) []byte { return append(b, 0, 0) }

// AppendField appends a field: an index of the static table, or a literal.
func AppendField(b []byte, name, value string) []byte {
	if i := slices.Index(static[:], [2]string{name, value}); i >= 0 {
		return h2.AppendInteger(b, 0xc0, 6, i)
	}
	return AppendLiteral(b, name, value)
}

// AppendLiteral appends a field as a literal that ends with the bytes of its value.
func AppendLiteral(b []byte, name, value string) []byte {
	if i := slices.IndexFunc(static[:], func(f [2]string) bool { return f[0] == name }); i >= 0 {
		b = h2.AppendInteger(b, 0x50, 4, i)
	} else {
		b = append(h2.AppendInteger(b, 0x20, 3, len(name)), name...)
	}
	return append(h2.AppendInteger(b, 0, 7, len(value)), value...)
}

// Decoder decodes field sections that use no dynamic table. Its zero value is ready for use.
type Decoder struct{ name, value []byte }

// Decode decodes a field section and passes its fields in order to add. name and value are valid until add
// returns. An error of add ends Decode.
func (d *Decoder) Decode(section []byte, add func(name, value []byte) error) error {
	requiredInserts, b, err := h2.ReadInteger(section, 8)
	if err != nil {
		return err
	}
	if requiredInserts != 0 {
		return errDynamic
	}
	if _, b, err = h2.ReadInteger(b, 7); err != nil {
		return err
	}
	for len(b) > 0 {
		var name, value []byte
		if name, value, b, err = d.readField(b); err == nil {
			err = add(name, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const errDynamic = Error("a field section that refers to a dynamic table, which the client did not allow")

// readField reads one field (RFC 9204, section 4.5).
func (d *Decoder) readField(b []byte) (name, value, rest []byte, err error) {
	switch c := b[0]; {
	case c&0xc0 == 0xc0: // 11: an index
		i, rest, err := h2.ReadInteger(b, 6)
		if err == nil && i >= len(static) {
			err = errIndex
		}
		if err != nil {
			return nil, nil, nil, err
		}
		d.name, d.value = append(d.name[:0], static[i][0]...), append(d.value[:0], static[i][1]...)
		return d.name, d.value, rest, nil
	case c&0xd0 == 0x50: // 01N1: a literal whose name is an index
		var i int
		if i, rest, err = h2.ReadInteger(b, 4); err == nil && i >= len(static) {
			err = errIndex
		}
		if err != nil {
			return nil, nil, nil, err
		}
		d.name = append(d.name[:0], static[i][0]...)
		name = d.name
	case c&0xe0 == 0x20: // 001: a literal whose name is a string
		if name, rest, err = readString(b, 3, &d.name); err != nil {
			return nil, nil, nil, err
		}
	default: // an index of the dynamic table
		return nil, nil, nil, errDynamic
	}
	if value, rest, err = readString(rest, 7, &d.value); err != nil {
		return nil, nil, nil, err
	}
	return name, value, rest, nil
}

const errIndex = Error("an index that the static table does not have")

// readString reads a string. Its length starts in the low prefix bits. The bit above them marks a Huffman
// code. room is the buffer for decoding it.
func readString(b []byte, prefix int, room *[]byte) (s, rest []byte, err error) {
	n, rest, err := h2.ReadInteger(b, prefix)
	if err != nil {
		return nil, nil, err
	}
	if n > len(rest) {
		return nil, nil, Error("a string that is longer than its field section")
	}
	if s, rest = rest[:n], rest[n:]; b[0]>>prefix&1 == 0 {
		return s, rest, nil
	}
	if *room, err = h2.AppendDecoded((*room)[:0], s); err != nil {
		return nil, nil, err
	}
	return *room, rest, nil
}
