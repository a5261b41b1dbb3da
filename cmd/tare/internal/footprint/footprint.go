// Package footprint limits the memory of a decoded JSON document:
// an element of a few bytes can become hundreds. It counts before
// decoding.
package footprint

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Most limits the bytes of a document's values. Decoding has a peak of about three times as
// much, and four times the document.
const Most = 768 << 20

// Error is returned for a document beyond the limit.
type Error struct {
	Offset int // offset of the value
	Most   int64
}

// Error is one line.
func (e *Error) Error() string {
	return fmt.Sprintf("its values take more than %d MiB of memory", e.Most>>20)
}

// Unmarshal is [json.Unmarshal] for a document whose values take at most most bytes. Beyond
// that it returns an [*Error] and leaves to unchanged.
func Unmarshal(src []byte, to any, most int64) error {
	if err := Check(src, reflect.TypeOf(to), most); err != nil {
		return err
	}
	return json.Unmarshal(src, to)
}

// Check returns an [*Error] if the document would take more than most bytes as a value of type
// as. It accepts invalid JSON, which json.Unmarshal rejects.
func Check(src []byte, as reflect.Type, most int64) error {
	c := counter{src: src, left: most, fields: map[reflect.Type]map[string]reflect.Type{}}
	if c.countValue(as, 0); c.left < 0 {
		return &Error{c.at, most}
	}
	return nil
}

// Costs of package json and the runtime for a value, in addition to its size.
const (
	mapCost    = 256 // a map with a few members
	memberCost = 32  // of a map, in addition to key and element
	textCost   = 16
	maxDepth   = 10_000 // as in package json
)

// counter reads a document once, to its end or until nothing is left.
type counter struct {
	src    []byte
	at     int
	left   int64
	fields map[reflect.Type]map[string]reflect.Type // by struct type
}

// countBytes subtracts bytes of memory.
func (c *counter) countBytes(bytes int) { c.left -= int64(bytes) }

// skipSpace returns the next byte that is not white space, or 0 at the end.
func (c *counter) skipSpace() byte {
	for ; c.at < len(c.src); c.at++ {
		if b := c.src[c.at]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// countValue counts the next value as a value of type as; nil means that it is not decoded. It
// returns false after the last value, or if counting must end.
func (c *counter) countValue(as reflect.Type, depth int) bool {
	for as != nil && as.Kind() == reflect.Pointer {
		as = as.Elem()
		c.countBytes(int(as.Size()))
	}
	if as != nil && reflect.PointerTo(as).Implements(unmarshaler) {
		as = nil
	}
	if c.left < 0 || depth > maxDepth {
		return false
	}
	switch b := c.skipSpace(); b {
	case 0, ']', '}', ',', ':':
		return false
	case '{':
		if isMap(as) {
			c.countBytes(mapCost)
		}
		return c.forEachValue('}', func() bool { return c.countMember(as, depth) })
	case '[':
		element := elementType(as, reflect.Slice)
		return c.forEachValue(']', func() bool {
			if element != nil {
				c.countBytes(int(element.Size()))
			}
			return c.countValue(element, depth+1)
		})
	case '"':
		n := len(c.scanString())
		if as != nil {
			c.countBytes(textCost + n)
		}
	default:
		for c.at < len(c.src) && !strings.ContainsRune(",]}: \n\t\r", rune(c.src[c.at])) {
			c.at++
		}
	}
	return true
}

// forEachValue calls do for each value up to end.
func (c *counter) forEachValue(end byte, do func() bool) bool {
	for c.at++; ; c.at++ {
		if c.skipSpace() == end {
			break
		}
		if !do() {
			return false
		}
		if c.skipSpace() != ',' {
			break
		}
	}
	if c.skipSpace() != end {
		return false
	}
	c.at++
	return true
}

// countMember counts a name and its value.
func (c *counter) countMember(of reflect.Type, depth int) bool {
	if c.skipSpace() != '"' {
		return false
	}
	name := c.scanString()
	if c.skipSpace() != ':' {
		return false
	}
	c.at++
	var as reflect.Type
	if isMap(of) {
		as = elementType(of, reflect.Map)
		c.countBytes(memberCost + len(name) + int(as.Size()))
	} else if of != nil && of.Kind() == reflect.Struct {
		as = c.fieldType(of, name)
	}
	return c.countValue(as, depth+1)
}

// scanString returns the string at c.at with its quotes.
func (c *counter) scanString() []byte {
	begin := c.at
	for c.at++; c.at < len(c.src) && c.src[c.at] != '"'; c.at++ {
		if c.src[c.at] == '\\' {
			c.at++
		}
	}
	c.at = min(c.at+1, len(c.src))
	return c.src[begin:c.at]
}

func isMap(t reflect.Type) bool {
	return t != nil && (t.Kind() == reflect.Map || t.Kind() == reflect.Interface)
}

// elementType returns the type of as's elements if as is of that kind. An interface holds
// interfaces. It returns nil if there are none.
func elementType(as reflect.Type, kind reflect.Kind) reflect.Type {
	switch {
	case as == nil:
		return nil
	case as.Kind() == reflect.Interface:
		return as
	case as.Kind() == kind:
		return as.Elem()
	}
	return nil
}

// fieldType returns the type of the field that package json uses for a name in quotes, or nil.
func (c *counter) fieldType(of reflect.Type, quoted []byte) reflect.Type {
	fields := c.fields[of]
	if fields == nil {
		fields = map[string]reflect.Type{}
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name != "":
				fields[name] = f.Type
			case !f.Anonymous: // an embedded struct has no name
				fields[f.Name] = f.Type
			}
		}
		c.fields[of] = fields
	}
	if t, ok := fields[string(quoted[1:max(len(quoted)-1, 1)])]; ok {
		return t
	}
	var name string
	if json.Unmarshal(quoted, &name) != nil {
		return nil
	}
	for known, t := range fields { // case-insensitive, like package json
		if strings.EqualFold(known, name) {
			return t
		}
	}
	return nil
}
