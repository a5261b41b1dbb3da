package plan

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// Call is a C function for Go to call.
type Call struct {
	C      string
	Go     string
	Says   string // its prototype, as C has it
	Params []Param
	Result Role
	Text   string // C function that describes an error code; "" if there is none
	Free   string // C function that frees the source of Out; "" if there is none
	With   []string

	Out    *Struct     // output of the function, with the members Out and, if it is counted, Len; nil if there is none
	One    *Struct     // the function returns one struct through a pointer, and no Out
	OutC   *ctype.Type // what the function gives
	LenC   *ctype.Type // type of its count; nil if it has none
	Inline bool        // the caller provides the memory, of type OutC
}

// Role is the purpose of a parameter or a result.
type Role string

// Roles.
const (
	None  Role = ""      // void
	In    Role = "in"    // from Go, passed through
	Out   Role = "out"   // what the function gives
	Len   Role = "len"   // how many of it
	Error Role = "error" // a code, 0 on success
	OK    Role = "ok"    // 0 on failure
)

// Param is one parameter.
type Param struct {
	Role Role
	Go   string // name
	Type string // of In: in Go; string, unsafe.Pointer or a number
	C    string // of In: as a helper in C takes it
}

// CallSpec is the user's specification of a function:
//
//	list_devices(bus, out, len) error free=free_devices
type CallSpec struct {
	C      string
	As     string // Go name; empty means derived from that in C
	Params []string
	Result Role
	Text   string   // of error=FUNCTION
	Free   string   // free=FUNCTION
	With   []string // its arguments, including out and len; nil means only out
}

// ParseCall reads the text of a -func.
func ParseCall(text string) (CallSpec, error) {
	var c CallSpec
	name, rest, ok := strings.Cut(text, "(")
	params, words, closed := strings.Cut(rest, ")")
	c.C = strings.TrimSpace(name)
	if !ok || !closed || !isIdentifier(c.C) {
		return c, fmt.Errorf("want FUNCTION(PARAMETER, …) RESULT, e.g. list_devices(out, len) error free=free_devices")
	}
	var err error
	if c.Params, err = splitNames(params); err != nil {
		return c, err
	}
	for _, w := range splitFields(words) {
		key, value, given := strings.Cut(w, "=")
		switch {
		case key == "free" && value != "":
			fn, with, some := strings.Cut(value, "(")
			c.Free = fn
			if some {
				inner, end := strings.CutSuffix(with, ")")
				if !end {
					return c, fmt.Errorf("%s: the bracket is not closed", w)
				}
				if c.With, err = splitNames(inner); err != nil {
					return c, err
				}
			}
			if !isIdentifier(c.Free) {
				return c, fmt.Errorf("%s: want a C function, e.g. free=free_devices", w)
			}
		case key == "as" && token.IsIdentifier(value):
			c.As = value
		case key == "error" && given && isIdentifier(value) && c.Result == None:
			c.Result, c.Text = Error, value
		case !given && c.Result == None && slices.Contains([]Role{Error, OK, Len, Out}, Role(w)):
			c.Result = Role(w)
		default:
			return c, fmt.Errorf("unknown or second word %q; known: a result (error, error=FUNCTION, ok, len, out), free=FUNCTION, as=NAME", w)
		}
	}
	return c, nil
}

// splitFields splits words at blanks that are in no brackets.
func splitFields(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return unicode.IsSpace(r) && depth == 0
	})
}

// splitNames returns the names or numbers in brackets.
func splitNames(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var list []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			return nil, fmt.Errorf("%q is no name of a parameter", name)
		}
		list = append(list, name)
	}
	return list, nil
}

// isIdentifier reports whether C permits the name.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r))) {
			return false
		}
	}
	return name != ""
}
