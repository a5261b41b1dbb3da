package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Limits of a JSON document: of collections in one another, and of values.
const (
	maxDepth  = 1000
	maxValues = 8 << 20
)

var errNotRead = errors.New("not read as JSON")

// parseJSON reads a document of JSON. It returns nil for what is something else, is not
// complete, repeats a name or exceeds the limits: the reader of YAML says why.
func parseJSON(src []byte) *node {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if start := bytes.TrimLeft(src, " \t\r\n"); len(start) == 0 || start[0] != '{' || len(src) > MaxBytes || !utf8.Valid(src) {
		return nil
	}
	t := &treeOfJSON{src: src, dec: json.NewDecoder(bytes.NewReader(src)), at: position{1, 1}}
	t.dec.UseNumber()
	root, err := t.value(0)
	if err != nil || len(bytes.TrimLeft(src[t.dec.InputOffset():], " \t\r\n")) > 0 {
		return nil
	}
	return root
}

// treeOfJSON makes nodes of the tokens of a JSON decoder.
type treeOfJSON struct {
	src    []byte
	dec    *json.Decoder
	read   int      // offset up to which positions were counted
	at     position // of src[read]
	values int
}

// next returns the next token and its position.
func (t *treeOfJSON) next() (json.Token, position, error) {
	start := int(t.dec.InputOffset())
	for start < len(t.src) && bytes.IndexByte([]byte(" \t\r\n,:"), t.src[start]) >= 0 {
		start++
	}
	skipped := t.src[t.read:start]
	if lines := bytes.Count(skipped, []byte("\n")); lines > 0 {
		t.at.line, t.at.col = t.at.line+int32(lines), 1
		skipped = skipped[bytes.LastIndexByte(skipped, '\n')+1:]
	}
	t.at.col += int32(utf8.RuneCount(skipped))
	t.read = start
	if t.values++; t.values > maxValues {
		return nil, t.at, errNotRead
	}
	token, err := t.dec.Token()
	return token, t.at, err
}

func (t *treeOfJSON) value(depth int) (*node, error) {
	token, at, err := t.next()
	if err != nil {
		return nil, err
	}
	n := &node{at: at}
	switch v := token.(type) {
	case nil:
	case bool:
		n.kind, n.text = boolean, "false"
		if v {
			n.text = "true"
		}
	case json.Number:
		n.kind, n.text = number, v.String()
	case string:
		n.kind, n.text = text, v
	case json.Delim:
		if depth == maxDepth {
			return nil, errNotRead
		}
		n.kind = list
		if v == '{' {
			n.kind = mapping
		}
		if err := t.addAll(n, depth+1); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// addAll adds the fields of a mapping, or the items of a list, to its end.
func (t *treeOfJSON) addAll(n *node, depth int) error {
	for t.dec.More() {
		var f field
		if n.kind == mapping {
			name, at, err := t.next()
			if err != nil {
				return err
			}
			f.name, f.at = name.(string), at
			if _, taken := n.find(f.name); taken {
				return errNotRead
			}
		}
		var err error
		if f.value, err = t.value(depth); err != nil {
			return err
		}
		if n.kind == mapping {
			n.addField(f)
		} else {
			n.fields = append(n.fields, f)
		}
	}
	_, _, err := t.next()
	return err
}
