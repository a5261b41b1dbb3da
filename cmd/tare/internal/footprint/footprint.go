// Package footprint limits the memory that a decoded JSON document takes. An element of
// a few bytes, such as {} in an array of structs, can take hundreds of bytes of memory.
// So the package estimates the memory from the text and the Go type before anything is
// decoded.
package footprint

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Most is the usual limit of the bytes of a document's values. While the document is decoded, the
// process needs about three times as much, and in addition four times the size of the document.
const Most = 768 << 20

// Error is returned for a document beyond the limit.
type Error struct {
	Offset int   // offset of the value that exceeds the limit
	Most   int64 // the limit in bytes
}

// Error returns one line without the offset.
func (e *Error) Error() string {
	return fmt.Sprintf("its values take more than %d MiB of memory", e.Most>>20)
}

// Unmarshal is like [json.Unmarshal], but if the values of the document take more than most
// bytes, it returns an [*Error] and leaves to unchanged.
func Unmarshal(src []byte, to any, most int64) error {
	if err := Check(src, reflect.TypeOf(to), most); err != nil {
		return err
	}
	return json.Unmarshal(src, to)
}

// Check returns an [*Error] if the document would take more than most bytes as a value of type
// as. It accepts invalid JSON, which json.Unmarshal rejects.
func Check(src []byte, as reflect.Type, most int64) error {
	c := counter{src: src, remaining: most, fields: map[reflect.Type]map[string]reflect.Type{}}
	if c.countValue(as, 0); c.remaining < 0 {
		return &Error{c.at, most}
	}
	return nil
}

// Estimates of what package json and the runtime allocate for a value, in bytes, in addition to
// the size of its type.
const (
	mapCost    = 256 // a map with a few members
	memberCost = 32  // a member of a map, in addition to its name and its element
	textCost   = 16  // a string, in addition to its bytes
)

// maxDepth is the nesting beyond which package json rejects a document.
const maxDepth = 10_000

// counter reads a document once, to its end or until the limit is exceeded.
type counter struct {
	src       []byte
	at        int                                      // offset of the next byte
	remaining int64                                    // bytes of memory below the limit; negative beyond it
	fields    map[reflect.Type]map[string]reflect.Type // types of fields by name, by struct type
}

// countBytes subtracts bytes of memory from those that remain.
func (c *counter) countBytes(bytes int) { c.remaining -= int64(bytes) }

// skipSpace skips white space. It returns the next byte, or 0 at the end.
func (c *counter) skipSpace() byte {
	for ; c.at < len(c.src); c.at++ {
		if b := c.src[c.at]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// countValue counts the next value as a value of type as; nil means that package json discards the
// value, so that it takes no memory. The caller has counted the size of the type itself. countValue
// returns false if there is no value, or if the limit or maxDepth is exceeded.
func (c *counter) countValue(as reflect.Type, depth int) bool {
	for as != nil && as.Kind() == reflect.Pointer {
		as = as.Elem()
		c.countBytes(int(as.Size()))
	}
	if as != nil && reflect.PointerTo(as).Implements(unmarshaler) {
		as = nil // the type decodes itself, into memory that is not known
	}
	if c.remaining < 0 || depth > maxDepth {
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
	default: // a number, true, false or null takes no more than its type
		for c.at < len(c.src) && !strings.ContainsRune(",]}: \n\t\r", rune(c.src[c.at])) {
			c.at++
		}
	}
	return true
}

// forEachValue calls do for each value of an array or object up to its end, ] or }. It returns false
// if do does, or at a syntax error.
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

// countMember counts a member, name and value, of an object of type object.
func (c *counter) countMember(object reflect.Type, depth int) bool {
	if c.skipSpace() != '"' {
		return false
	}
	name := c.scanString()
	if c.skipSpace() != ':' {
		return false
	}
	c.at++
	var as reflect.Type
	if isMap(object) {
		as = elementType(object, reflect.Map)
		c.countBytes(memberCost + len(name) + int(as.Size()))
	} else if object != nil && object.Kind() == reflect.Struct {
		as = c.fieldType(object, name)
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

// isMap reports whether package json decodes an object of type t into a map.
func isMap(t reflect.Type) bool {
	return t != nil && (t.Kind() == reflect.Map || t.Kind() == reflect.Interface)
}

// elementType returns the type of the elements of as if as is of this kind, slice or map, and nil if
// it is of another kind. The elements of an interface are of the same interface type.
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

// fieldType returns the type of the field into which package json decodes a member with the name
// quoted, or nil if there is no such field.
func (c *counter) fieldType(structType reflect.Type, quoted []byte) reflect.Type {
	fields := c.fields[structType]
	if fields == nil {
		fields = map[string]reflect.Type{}
		for _, f := range reflect.VisibleFields(structType) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name != "":
				fields[name] = f.Type
			case !f.Anonymous: // an embedded struct has no name
				fields[f.Name] = f.Type
			}
		}
		c.fields[structType] = fields
	}
	// Most names have no escapes. The closing quote may be missing at the end of the document.
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
