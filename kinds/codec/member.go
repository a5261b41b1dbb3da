package codec

import (
	"bytes"
	"slices"
)

// member is a key and its value, as they were written.
type member struct{ key, value string }

// splitMembers splits an object without checking it: the inspected answer may be invalid. It reads
// both JSON and structs formatted by [fixture.Show]; a key is everything before the first colon,
// without its quotes. It returns false if there is no object, or if it does not end.
func splitMembers(text []byte) ([]member, bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return nil, false
	}
	var list []member
	s := splitter{text: text, start: 1, colon: -1}
	for i := 0; i < len(text); i++ {
		switch s.separatorAt(i) {
		case ',':
			list = append(list, s.memberBefore(i))
		case '}':
			if i+1 != len(text) {
				return nil, false
			}
			if m := s.memberBefore(i); m != (member{}) {
				list = append(list, m)
			}
			return list, true
		}
	}
	return nil, false
}

// splitter knows where in a text it is: inside how many brackets, and in a
// string or not.
type splitter struct {
	text   []byte
	start  int // of the member
	colon  int // after its key; -1: not yet
	depth  int
	quoted bool
	escape bool // the character before was a backslash in a string
}

// separatorAt reads the character at i and returns it if it separates members or ends the object.
func (s *splitter) separatorAt(i int) byte {
	c := s.text[i]
	switch {
	case s.escape:
		s.escape = false
	case s.quoted:
		s.escape, s.quoted = c == '\\', c != '"'
	case c == '"':
		s.quoted = true
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		if s.depth--; s.depth == 0 {
			return '}'
		}
	case c == ':' && s.depth == 1 && s.colon < 0:
		s.colon = i
	case c == ',' && s.depth == 1:
		return ','
	}
	return 0
}

// memberBefore returns the member that ends before i.
func (s *splitter) memberBefore(i int) member {
	var m member
	if s.colon >= 0 {
		key := bytes.TrimSpace(s.text[s.start:s.colon])
		if n := len(key); n >= 2 && key[0] == '"' && key[n-1] == '"' {
			key = key[1 : n-1]
		}
		m.key = string(key)
		m.value = string(bytes.TrimSpace(s.text[s.colon+1 : i]))
	} else {
		m.value = string(bytes.TrimSpace(s.text[s.start:i]))
	}
	s.start, s.colon = i+1, -1
	return m
}

// findField returns the value of key in an object, and whether there is one.
func findField(text []byte, key string) (string, bool) {
	list, _ := splitMembers(text)
	i := slices.IndexFunc(list, func(m member) bool { return m.key == key })
	if i < 0 {
		return "", false
	}
	return list[i].value, true
}

// keysOf returns the keys of an object in the order they were written.
func keysOf(text []byte) ([]string, bool) {
	list, ok := splitMembers(text)
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.key
	}
	return names, ok
}

// isReordered reports whether a and b are objects of the same keys, written in different orders.
func isReordered(a, b []byte) bool {
	x, ok := keysOf(a)
	y, ok2 := keysOf(b)
	if !ok || !ok2 || slices.Equal(x, y) {
		return false
	}
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
