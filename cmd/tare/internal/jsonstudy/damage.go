package jsonstudy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/tarebench/tare/kinds/codec"
)

// tare json --go damages some of the user's documents, each in one place, and reports if Go releases
// differ in the outcome. These are the limits of the documents.
const (
	maxDamaged      = 8        // number of documents
	maxDamagedBytes = 64 << 10 // size of one document
)

// chooseDamaged returns an evenly spread part of the small documents, or the smallest.
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
	return pickSpread(fit, min(len(fit), maxDamaged))
}

// part is a key, a scalar or an opening bracket of a document.
type part struct {
	from, to int // range in bytes of the token
	isKey    bool
	value    json.Token
	end      int // offset after the matching closing bracket; 0 unless the part is a bracket
}

func parseParts(body []byte) []part {
	var parts []part
	type level struct { // an open array or object
		index      int // index of its bracket in parts
		isObject   bool
		expectsKey bool // the next token is a key, or the end
	}
	var open []level
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
		if token == json.Delim(']') || token == json.Delim('}') {
			last := len(open) - 1
			parts[open[last].index].end = to
			open = open[:last]
			continue
		}
		p := part{from: to - len(lastToken(body[:to], token)), to: to, value: token}
		if len(open) > 0 {
			parent := &open[len(open)-1]
			p.isKey = parent.expectsKey
			parent.expectsKey = parent.isObject && !p.isKey
		}
		parts = append(parts, p)
		if bracket, ok := token.(json.Delim); ok {
			open = append(open, level{index: len(parts) - 1, isObject: bracket == '{', expectsKey: bracket == '{'})
		}
	}
}

// lastToken returns the text of token at the end of text.
func lastToken(text []byte, token json.Token) []byte {
	if _, isString := token.(string); !isString {
		i := bytes.LastIndexAny(text[:len(text)-1], "[]{}:, \t\r\n")
		return text[i+1:]
	}
	for i := len(text) - 2; i >= 0; i-- { // before the closing quote
		if text[i] != '"' {
			continue
		}
		backslashes := 0
		for i-backslashes > 0 && text[i-backslashes-1] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 { // an odd number escapes the quote
			return text[i:]
		}
	}
	return text
}

type damaged struct {
	damage string // noun phrase: "a trailing comma"
	body   []byte
}

// damageDocument returns versions of a document with one damage each: {"a":1 and {key:1} for {"a":1}.
func damageDocument(body []byte) []damaged {
	var out []damaged
	add := func(damage string, changed []byte) {
		if !bytes.Equal(changed, body) {
			out = append(out, damaged{damage: damage, body: changed})
		}
	}
	splice := func(from, to int, text string) []byte { // replaces body[from:to]
		return bytes.Join([][]byte{body[:from], body[to:]}, []byte(text))
	}
	if len(body) > 1 {
		add("a cut-off end", body[:len(body)-1])
	}
	add("text after its end", splice(len(body), len(body), " x"))
	parts := parseParts(body)
	find := func(fits func(p part) bool) (part, bool) { // the first part that fits
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

// upperKeys puts the ASCII letters of keys without escapes in upper case.
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

func newDamagedCases(docs []codec.Document) []releaseCase {
	var out []releaseCase
	chosen := chooseDamaged(docs)
	for i, body := range poolBodies(chosen) {
		for _, d := range damageDocument(body) {
			id := fmt.Sprintf("%s, with %s", chosen[i], d.damage)
			out = append(out, releaseCase{id: id, property: d.damage, input: id, noun: "a document with " + d.damage, body: d.body})
		}
	}
	return out
}
