package jsonstudy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/tarebench/tare/kinds/codec"
)

// Limits of the documents that are damaged for semantics tests.
const (
	maxDamaged      = 8        // documents
	maxDamagedBytes = 64 << 10 // of one document
)

// chooseDamaged returns the documents that are damaged: evenly spread, of those that are small enough, or
// else the smallest one.
func chooseDamaged(docs []codec.Document) []codec.Document {
	var fit []codec.Document
	smallest := docs[0]
	for _, d := range docs {
		if len(d.Body) <= maxDamagedBytes {
			fit = append(fit, d)
		}
		if len(d.Body) < len(smallest.Body) {
			smallest = d
		}
	}
	if len(fit) == 0 {
		return []codec.Document{smallest}
	}
	n := min(len(fit), maxDamaged)
	out := make([]codec.Document, n)
	for i := range out {
		out[i] = fit[i*len(fit)/n]
	}
	return out
}

// part is a token of a document.
type part struct {
	from, to int
	isKey    bool
	value    json.Token // a key, a scalar, or a bracket that begins an array or object
	end      int        // of a bracket: the offset after the bracket that closes it
}

// parseParts returns the keys, scalars and opening brackets of a valid document.
func parseParts(body []byte) []part {
	var parts []part
	var open []int // indices in parts of the brackets that are open
	var isObject, expectsKey []bool
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err == io.EOF {
			return parts
		}
		if err != nil { // the document was checked when it was read
			return nil
		}
		to := int(d.InputOffset())
		level := len(open) - 1
		if token == json.Delim(']') || token == json.Delim('}') {
			parts[open[level]].end = to
			open, isObject, expectsKey = open[:level], isObject[:level], expectsKey[:level]
			continue
		}
		p := part{to: to, value: token}
		p.from = to - len(lastToken(body[:to], token))
		if level >= 0 && expectsKey[level] {
			p.isKey, expectsKey[level] = true, false
		} else if level >= 0 {
			expectsKey[level] = isObject[level]
		}
		parts = append(parts, p)
		if bracket, ok := token.(json.Delim); ok {
			open = append(open, len(parts)-1)
			isObject, expectsKey = append(isObject, bracket == '{'), append(expectsKey, bracket == '{')
		}
	}
}

// lastToken returns the text of the token at the end of text.
func lastToken(text []byte, token json.Token) []byte {
	if _, isString := token.(string); !isString {
		i := bytes.LastIndexAny(text[:len(text)-1], "[]{}:, \t\r\n")
		return text[i+1:]
	}
	for i := len(text) - 2; i >= 0; i-- {
		if text[i] != '"' {
			continue
		}
		escapes := 0
		for i-escapes > 0 && text[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return text[i:]
		}
	}
	return text
}

// damaged is a document that differs from one of the user's in one place.
type damaged struct {
	kind string // what the document has, as a noun phrase: "a key twice"
	body []byte
}

// damageDocument returns versions of a valid document, each damaged in one way. Damage that the document
// has no place for is omitted.
func damageDocument(body []byte) []damaged {
	var out []damaged
	add := func(kind string, changed []byte) {
		if !bytes.Equal(changed, body) {
			out = append(out, damaged{kind, changed})
		}
	}
	splice := func(from, to int, text string) []byte {
		return bytes.Join([][]byte{body[:from], body[to:]}, []byte(text))
	}
	if len(body) > 1 {
		add("a cut-off end", body[:len(body)-1])
	}
	add("text after its end", splice(len(body), len(body), " x"))
	parts := parseParts(body)
	find := func(fits func(p part) bool) (part, bool) {
		for _, p := range parts {
			if fits(p) {
				return p, true
			}
		}
		return part{}, false
	}
	if p, ok := find(func(p part) bool { return p.isKey }); ok {
		add("a key without quotes", splice(p.from, p.to, "key"))
		colon := p.to + bytes.IndexByte(body[p.to:], ':')
		add("an equals sign for a colon", splice(colon, colon+1, "="))
	}
	if p, ok := find(func(p part) bool { return p.value == json.Delim('{') }); ok {
		add("an array for an object", splice(p.from, p.end, "[1]"))
		add("a trailing comma", splice(p.end-1, p.end-1, ","))
		if members := bytes.TrimSpace(body[p.from+1 : p.end-1]); len(members) > 0 {
			add("every key twice", splice(p.end-1, p.end-1, ","+string(members)))
		}
	}
	if p, ok := find(func(p part) bool { return p.value == json.Delim('[') }); ok {
		add("an object for an array", splice(p.from, p.end, `{"a":1}`))
		add("null for an array", splice(p.from, p.end, "null"))
	}
	if p, ok := find(func(p part) bool { _, isString := p.value.(string); return isString && !p.isKey }); ok {
		add("a number for a text", splice(p.from, p.to, "1"))
		add("null for a text", splice(p.from, p.to, "null"))
		add("a byte that is not UTF-8", splice(p.from+1, p.from+1, "\xff"))
		add("half a surrogate pair", splice(p.from+1, p.from+1, `\ud800`))
		add("an unknown escape", splice(p.from+1, p.from+1, `\x`))
		add("a control character", splice(p.from+1, p.from+1, "\x01"))
	}
	if p, ok := find(func(p part) bool { _, isNumber := p.value.(json.Number); return isNumber }); ok {
		add("a text for a number", splice(p.from, p.to, `"1"`))
		add("null for a number", splice(p.from, p.to, "null"))
		add("a fraction for a number", splice(p.from, p.to, "1.5"))
		add("a number beyond every type", splice(p.from, p.to, "1e999"))
		add("a leading zero", splice(p.from, p.from, "0"))
	}
	if p, ok := find(func(p part) bool { _, isBool := p.value.(bool); return isBool }); ok {
		add("a text for a boolean", splice(p.from, p.to, `"true"`))
	}
	add("keys in upper case", upperKeys(body, parts))
	return out
}

// upperKeys returns a document with the ASCII letters of its keys in upper case. It does not change keys
// with escapes.
func upperKeys(body []byte, parts []part) []byte {
	out := bytes.Clone(body)
	for _, p := range parts {
		if key := out[p.from:p.to]; p.isKey && bytes.IndexByte(key, '\\') < 0 {
			for i, c := range key {
				if 'a' <= c && c <= 'z' {
					key[i] = c - 'a' + 'A'
				}
			}
		}
	}
	return out
}

// newDamagedCases returns the cases of documents that are damaged.
func newDamagedCases(docs []codec.Document) []releaseCase {
	var out []releaseCase
	chosen := chooseDamaged(docs)
	for i, body := range poolBodies(chosen) {
		for _, d := range damageDocument(body) {
			out = append(out, releaseCase{
				id:    fmt.Sprintf("%s, with %s", chosen[i], d.kind),
				kind:  d.kind,
				asked: fmt.Sprintf("%s, with %s", chosen[i], d.kind),
				what:  "a document with " + d.kind,
				body:  d.body,
			})
		}
	}
	return out
}
