package plan

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// Call is a C function that a generated Go function calls.
type Call struct {
	C         string // name of the C function
	Go        string // name of the Go function
	Prototype string // prototype of the C function
	Params    []Param
	Result    Role     // meaning of the C function's result
	Text      string   // C function that describes an error code; "" if the user names no function
	Free      string   // C function that frees the output; "" if the user names no function
	With      []string // arguments of Free, see [CallSpec]

	Out    *Struct     // the output, as a struct with the members out and, if it is counted, len; nil if there is no output, or if One is set
	One    *Struct     // the output, if it is a pointer to one struct
	OutC   *ctype.Type // C type of the output; nil without an output
	LenC   *ctype.Type // C type of the output's count; nil without a count
	Inline bool        // the caller provides the memory for the output, of type OutC
}

// Role is the purpose of a parameter or a result.
type Role string

// Roles.
const (
	None  Role = ""      // void
	In    Role = "in"    // an argument from Go, passed unchanged
	Out   Role = "out"   // the output of the function
	Len   Role = "len"   // the number of elements of the output
	Error Role = "error" // an error code, 0 on success
	OK    Role = "ok"    // a result that is 0 on failure
)

// Param is one parameter of a C function. Go, Type and C are only set for the role In.
type Param struct {
	Role Role
	Go   string // name in Go
	Type string // Go type: string, unsafe.Pointer or a number
	C    string // type of the parameter of the C helper function
}

// CallSpec is the user's specification of a function:
//
//	list_devices(bus, out, len) error free=free_devices
type CallSpec struct {
	C      string   // name of the C function
	As     string   // Go name; "" means derived from the C name
	Params []string // out, len, or names of parameters to pass
	Result Role
	Text   string   // FUNCTION of error=FUNCTION
	Free   string   // FUNCTION of free=FUNCTION
	With   []string // arguments of Free, in which out and len have their meaning; nil means only out
}

// ParseCall parses the value of a -func flag.
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
		key, value, hasValue := strings.Cut(w, "=")
		switch {
		case key == "free" && value != "":
			function, arguments, hasArguments := strings.Cut(value, "(")
			c.Free = function
			if hasArguments {
				inner, closed := strings.CutSuffix(arguments, ")")
				if !closed {
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
		case key == "error" && hasValue && isIdentifier(value) && c.Result == None:
			c.Result, c.Text = Error, value
		case !hasValue && c.Result == None && slices.Contains([]Role{Error, OK, Len, Out}, Role(w)):
			c.Result = Role(w)
		default:
			return c, fmt.Errorf("unknown or second word %q; known: a result (error, error=FUNCTION, ok, len, out), free=FUNCTION, as=NAME", w)
		}
	}
	return c, nil
}

// splitFields splits text at blanks outside of brackets.
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

// splitNames splits the text between brackets into names or numbers, at commas.
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

// isIdentifier reports whether name is an identifier of C, in ASCII.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r))) {
			return false
		}
	}
	return name != ""
}
