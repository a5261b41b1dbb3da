// Package footprint bounds the memory that a JSON document takes when it is decoded:
// a list of a few bytes an element can become one of hundreds. It counts before
// anything is decoded.
package footprint

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Most is how many bytes the values of a document may take. Decoding has a peak of
// about three times as much, and four times the document.
const Most = 768 << 20

// Error says where a document has more than it may have.
type Error struct {
	Offset int // of the value
	Most   int64
}

// Error is one line.
func (e *Error) Error() string {
	return fmt.Sprintf("its values take more than %d MiB of memory", e.Most>>20)
}

// Unmarshal is [json.Unmarshal] for a document whose values take at most so many
// bytes; beyond them the error is an [*Error], and to stays as it is.
func Unmarshal(src []byte, to any, most int64) error {
	if err := Check(src, reflect.TypeOf(to), most); err != nil {
		return err
	}
	return json.Unmarshal(src, to)
}

// Check reports a document that takes more than so many bytes as a value of that
// type. What is no JSON is not reported: nothing of it is decoded.
func Check(src []byte, as reflect.Type, most int64) error {
	c := counter{src: src, left: most, fields: map[reflect.Type]map[string]reflect.Type{}}
	if c.value(as, 0); c.left < 0 {
		return &Error{c.at, most}
	}
	return nil
}

// What package json and the runtime take for a value, besides its own size.
const (
	ofMap     = 256 // a map with a few members
	ofMember  = 32  // of a map, besides key and element
	ofText    = 16
	mostDepth = 10_000 // as in package json
)

// counter goes through a document once, and ends at its end or when nothing is left.
type counter struct {
	src    []byte
	at     int
	left   int64
	fields map[reflect.Type]map[string]reflect.Type // of structs that were met
}

// take counts bytes of memory.
func (c *counter) take(bytes int) { c.left -= int64(bytes) }

// next is the first byte that is no space; zero at the end.
func (c *counter) next() byte {
	for ; c.at < len(c.src); c.at++ {
		if b := c.src[c.at]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// value counts the next value, which is decoded into an as; nil: it is passed over.
// It reports whether there was one, and whether to go on.
func (c *counter) value(as reflect.Type, depth int) bool {
	for as != nil && as.Kind() == reflect.Pointer {
		as = as.Elem()
		c.take(int(as.Size()))
	}
	if as != nil && reflect.PointerTo(as).Implements(unmarshaler) {
		as = nil
	}
	if c.left < 0 || depth > mostDepth {
		return false
	}
	switch b := c.next(); b {
	case 0, ']', '}', ',', ':':
		return false
	case '{':
		if isMap(as) {
			c.take(ofMap)
		}
		return c.each('}', func() bool { return c.member(as, depth) })
	case '[':
		element := element(as, reflect.Slice)
		return c.each(']', func() bool {
			if element != nil {
				c.take(int(element.Size()))
			}
			return c.value(element, depth+1)
		})
	case '"':
		n := len(c.text())
		if as != nil {
			c.take(ofText + n)
		}
	default:
		for c.at < len(c.src) && !strings.ContainsRune(",]}: \n\t\r", rune(c.src[c.at])) {
			c.at++
		}
	}
	return true
}

// each calls do for each of the values up to an end.
func (c *counter) each(end byte, do func() bool) bool {
	for c.at++; ; c.at++ {
		if c.next() == end {
			break
		}
		if !do() {
			return false
		}
		if c.next() != ',' {
			break
		}
	}
	if c.next() != end {
		return false
	}
	c.at++
	return true
}

// member counts a name and its value.
func (c *counter) member(of reflect.Type, depth int) bool {
	if c.next() != '"' {
		return false
	}
	name := c.text()
	if c.next() != ':' {
		return false
	}
	c.at++
	var as reflect.Type
	if isMap(of) {
		as = element(of, reflect.Map)
		c.take(ofMember + len(name) + int(as.Size()))
	} else if of != nil && of.Kind() == reflect.Struct {
		as = c.field(of, name)
	}
	return c.value(as, depth+1)
}

// text is the string that begins here, in its quotes.
func (c *counter) text() []byte {
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

// element is what an as has as elements if it is of that kind. An interface becomes
// what the document has, of interfaces.
func element(as reflect.Type, kind reflect.Kind) reflect.Type {
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

// field is the type of a struct's field that package json takes for a name in quotes;
// nil: none.
func (c *counter) field(of reflect.Type, quoted []byte) reflect.Type {
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
	for known, t := range fields { // capitals do not matter
		if strings.EqualFold(known, name) {
			return t
		}
	}
	return nil
}
