package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// Tag is the user's specification of how a member of a C struct is copied. Its text is in a field tag of a
// Go struct, cgocopy:"…", or in a flag -tag:
//
// items_ptr,len=items_count,max=1000   copy what items_ptr points to; items_count has the number
// -                                    omit the member
type Tag struct {
	Name   string // C member; "" means the one with the name of the Go field
	Skip   bool   // the member is omitted: "-"
	String bool   // copy bytes as a string
	Bytes  bool   // copy characters as bytes
	Opaque bool   // copy the address in a pointer
	Enum   bool   // the member must be an enum
	Len    string // name of the member that counts; "" if none
	Max    int64  // most elements or bytes; 0 means the default
	UTF8   UTF8
	Depth  int64            // most pointers in a row; 0 means no limit is set
	Free   string           // C function that frees the target of a pointer; "" if none
	On     string           // name of the discriminant of a union; "" if none
	Cases  map[int64]string // union's members, by the value of the discriminant
}

// ParseTag parses the text of a tag.
func ParseTag(text string) (Tag, error) {
	var t Tag
	words := strings.Split(text, ",")
	if text == "-" {
		return Tag{Skip: true}, nil
	}
	t.Name = strings.TrimSpace(words[0])
	if strings.Contains(t.Name, "=") {
		return t, fmt.Errorf("tag %q begins with the name of a C member, or with a comma", text)
	}
	for i := 1; i < len(words); i++ {
		key, value, hasValue := strings.Cut(strings.TrimSpace(words[i]), "=")
		if key == "union" { // commas also separate its cases
			rest := []string{value}
			for i+1 < len(words) && isCase(words[i+1]) {
				i++
				rest = append(rest, strings.TrimSpace(words[i]))
			}
			if err := t.parseUnion(rest); err != nil {
				return t, err
			}
			continue
		}
		if err := t.setKey(key, value, hasValue); err != nil {
			return t, err
		}
	}
	if t.String && t.Bytes {
		return t, fmt.Errorf("tag %q has both string and bytes; keep one", text)
	}
	return t, nil
}

// isCase reports whether a word is a case of a union: VALUE:MEMBER.
func isCase(word string) bool {
	value, member, ok := strings.Cut(strings.TrimSpace(word), ":")
	if !ok || member == "" {
		return false
	}
	_, err := strconv.ParseInt(value, 0, 64)
	return err == nil
}

// parseUnion sets On and Cases from the value of union=, e.g. "kind:0:i", and further cases, e.g. "1:f".
func (t *Tag) parseUnion(words []string) error {
	on, first, ok := strings.Cut(words[0], ":")
	if !ok || on == "" {
		return fmt.Errorf("union=%s: want the discriminant, a value and a member, e.g. union=kind:0:i,1:f", words[0])
	}
	t.On, t.Cases = on, map[int64]string{}
	for _, w := range append([]string{first}, words[1:]...) {
		value, member, ok := strings.Cut(w, ":")
		n, err := strconv.ParseInt(value, 0, 64)
		if !ok || err != nil || member == "" {
			return fmt.Errorf("union: %q is no value and member, e.g. 1:f", w)
		}
		if _, twice := t.Cases[n]; twice {
			return fmt.Errorf("union: value %d is given twice", n)
		}
		t.Cases[n] = member
	}
	return nil
}

// setKey sets the field of t for one word of a tag: key, or key=value.
func (t *Tag) setKey(key, value string, hasValue bool) error {
	setNumber := func(target *int64) error {
		n, err := strconv.ParseInt(value, 0, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("%s=%s: want a number above zero", key, value)
		}
		*target = n
		return nil
	}
	setFlag := func(target *bool) error {
		if hasValue {
			return fmt.Errorf("%s takes no value", key)
		}
		*target = true
		return nil
	}
	setText := func(target *string, want string) error {
		if value == "" {
			return fmt.Errorf("%s without %s", key, want)
		}
		*target = value
		return nil
	}
	switch key {
	case "string":
		return setFlag(&t.String)
	case "bytes":
		return setFlag(&t.Bytes)
	case "enum":
		return setFlag(&t.Enum)
	case "opaque":
		return setFlag(&t.Opaque)
	case "len":
		return setText(&t.Len, "the member that counts, e.g. len=items_count")
	case "max":
		return setNumber(&t.Max)
	case "depth":
		return setNumber(&t.Depth)
	case "free":
		return setText(&t.Free, "a C function, e.g. free=list_free")
	case "utf8":
		switch value {
		case "keep":
			t.UTF8 = Keep
		case "replace":
			t.UTF8 = Replace
		case "error":
			t.UTF8 = Refuse
		default:
			return fmt.Errorf("utf8=%s: want keep, replace or error", value)
		}
		return nil
	}
	return fmt.Errorf("unknown word %q in a tag; known: string, bytes, enum, opaque, len=, max=, utf8=, union=, depth=, free=, -", key)
}
