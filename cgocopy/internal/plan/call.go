package plan

import (
	"errors"
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// Call is a C function that a generated Go function calls. Its output is the value that the Go function
// copies and returns.
type Call struct {
	C         string
	Go        string
	Prototype string
	Params    []Param
	Result    Role
	Text      string   // C function that describes an error code, or ""
	Free      string   // C function that frees the output, or ""
	With      []string // arguments of Free, see [CallSpec]

	One    *Struct     // target, if the output points to one struct; otherwise nil
	Out    *Struct     // struct with the members out, the output, and len, its count; nil without an output, or if One is set
	OutC   *ctype.Type // type of the output; nil without one
	LenC   *ctype.Type // type of its count; nil without one
	Inline bool        // the caller provides the memory for the output
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
	Go   string
	Type string // string, unsafe.Pointer or a number
	C    string // type for the C helper function
}

// CallSpec is the user's specification of a function:
//
//	list_devices(bus, out, len) error free=free_devices
type CallSpec struct {
	C      string
	As     string   // Go name; "" means derived from the C name
	Params []string // out, len, or names of parameters to pass
	Result Role
	Text   string   // FUNCTION of error=FUNCTION
	Free   string   // FUNCTION of free=FUNCTION
	With   []string // arguments of Free, out and len among them; nil means only out
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
			if err := c.parseFree(value); err != nil {
				return c, fmt.Errorf("%s: %w", w, err)
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

// parseFree sets Free and With from the value of free=: FUNCTION, or FUNCTION(ARGUMENT, …).
func (c *CallSpec) parseFree(value string) (err error) {
	function, arguments, hasArguments := strings.Cut(value, "(")
	c.Free = function
	if hasArguments {
		inner, closed := strings.CutSuffix(arguments, ")")
		if !closed {
			return errors.New("the bracket is not closed")
		}
		if c.With, err = splitNames(inner); err != nil {
			return err
		}
	}
	if !isIdentifier(c.Free) {
		return errors.New("want a C function, e.g. free=free_devices")
	}
	return nil
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

// splitNames splits a text such as "bus, out, 0" into names and numbers.
func splitNames(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var list []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		isInvalid := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
		if name == "" || strings.ContainsFunc(name, isInvalid) {
			return nil, fmt.Errorf("%q is no name of a parameter", name)
		}
		list = append(list, name)
	}
	return list, nil
}

// isIdentifier reports whether name is an identifier of C, in ASCII.
func isIdentifier(name string) bool {
	for i, r := range name {
		isLetter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		isDigit := r >= '0' && r <= '9'
		if !isLetter && (!isDigit || i == 0) {
			return false
		}
	}
	return name != ""
}
