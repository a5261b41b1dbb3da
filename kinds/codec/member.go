package codec

import (
	"bytes"
	"slices"
)

type member struct{ key, value string }

type splitter struct {
	text   []byte
	start  int  // start of the current member
	colon  int  // colon after its key; -1 before the colon
	depth  int  // number of open brackets
	quoted bool // the position is in a string
	escape bool // after a backslash in a string
}

// splitMembers splits the text of an object into its members: {"a": 1, "b": [2]} into a, 1 and b,
// [2]. The output of a codec may be invalid JSON, so keys and values are not checked. It also
// splits structs from [fixture.Show], whose keys have no quotes. It returns false if text is not a
// complete object.
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

// separatorAt reads the character at i. It returns ',' between members of the outermost object, '}'
// at its end, and otherwise 0.
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

// memberBefore returns the member that ends before i, and starts the next one. The key is "" if the
// member has no colon.
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

func findField(text []byte, key string) (string, bool) {
	list, _ := splitMembers(text)
	i := slices.IndexFunc(list, func(m member) bool { return m.key == key })
	if i < 0 {
		return "", false
	}
	return list[i].value, true
}

func keysOf(text []byte) ([]string, bool) {
	list, ok := splitMembers(text)
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.key
	}
	return names, ok
}

// isReordered reports whether a and b have the same keys in different orders.
func isReordered(a, b []byte) bool {
	x, xOK := keysOf(a)
	y, yOK := keysOf(b)
	if !xOK || !yOK || slices.Equal(x, y) {
		return false
	}
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
