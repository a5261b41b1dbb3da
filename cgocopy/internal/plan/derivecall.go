package plan

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// WantedCall is a C function to wrap.
type WantedCall struct {
	CallSpec
	Type *ctype.Type
}

// planCall plans the Go function for one C function: name, parameters, result and output. The function
// returns the output, or writes it to a parameter with the role [Out]. Each step returns false if it
// rejects the function.
func (d *deriver) planCall(w WantedCall) {
	c := &Call{C: w.C, Go: w.As, Prototype: formatPrototype(w.Type), Result: w.Result, Text: w.Text, Free: w.Free, With: w.With}
	rejectCall := func(format string, args ...any) {
		d.reject(Refusal{Struct: w.C, Field: "()", Type: c.Prototype, Reason: fmt.Sprintf(format, args...), Remedy: "see cgocopy help gen"})
	}
	if c.Go == "" {
		c.Go = Exported(w.C)
	}
	switch {
	case c.Go == "":
		rejectCall("has a name that cannot be written in Go")
		return
	case w.Type.Variadic:
		rejectCall("takes any number of arguments, or declares none: write (void)")
		return
	case len(w.Params) != len(w.Type.Params):
		rejectCall("takes %d arguments, and %d are described", len(w.Type.Params), len(w.Params))
		return
	}
	if !d.claimName(w.Type, c.Go, w.C) {
		return
	}
	if !d.planParams(c, w, rejectCall) || !d.planResult(c, w, rejectCall) {
		return
	}
	switch {
	case c.LenC != nil && c.OutC == nil:
		rejectCall("has a len, and no out that it counts")
	case c.Free != "" && (c.OutC == nil || c.OutC.Strip().Kind != ctype.Pointer):
		rejectCall("gives no pointer that could be freed")
	case slices.Contains(c.With, string(Len)) && c.LenC == nil:
		rejectCall("is freed with a len, and has none")
	case c.OutC == nil || d.planOutput(c, w, rejectCall):
		d.plan.Calls = append(d.plan.Calls, c)
	}
}

// planParams plans the parameters. It sets c.OutC, c.LenC and c.Inline if they have an output.
func (d *deriver) planParams(c *Call, w WantedCall, rejectCall func(string, ...any)) bool {
	for i, name := range w.Params {
		t := w.Type.Params[i]
		s := t.Strip()
		p := Param{Role: Role(name)}
		switch p.Role {
		case Out, Len:
			if s == nil || s.Kind != ctype.Pointer {
				rejectCall("has %s as %s, which is no pointer to write it to", name, t)
				return false
			}
			valueType := &c.OutC // the type of the value that the function writes to the pointer
			if p.Role == Len {
				valueType = &c.LenC
			}
			if *valueType != nil {
				rejectCall("has two parameters %s", name)
				return false
			}
			*valueType = s.Elem
			// The caller provides memory for a struct. Other outputs are pointers themselves.
			isStruct := s.Elem.Strip() != nil && s.Elem.Strip().Kind == ctype.Struct
			c.Inline = c.Inline || p.Role == Out && isStruct
		default:
			if p.Go = paramName(name, c.Params); p.Go == "" {
				rejectCall("has a parameter %s, which cannot be written in Go", name)
				return false
			}
			p.Role = In
			if p.Type, p.C = inputTypes(t); p.Type == "" {
				rejectCall("takes %s, which Go cannot pass", t)
				return false
			}
		}
		c.Params = append(c.Params, p)
	}
	return true
}

// paramName returns the Go name of a parameter, or "" if Go cannot write the C name. It appends underscores
// to a name that is a keyword or in use.
func paramName(name string, before []Param) string {
	goName := Exported(name)
	if goName == "" {
		return ""
	}
	first, n := utf8.DecodeRuneInString(goName)
	goName = string(unicode.ToLower(first)) + goName[n:]
	if goName[n:] == strings.ToUpper(goName[n:]) {
		goName = strings.ToLower(goName) // id, not iD
	}
	isTaken := func() bool {
		return token.IsKeyword(goName) || slices.Contains([]string{"raw", "d", "a", "err", "code", "unsafe", "cgocopy", "string", "len", "nil"}, goName) ||
			slices.ContainsFunc(before, func(p Param) bool { return p.Go == goName })
	}
	for isTaken() {
		goName += "_"
	}
	return goName
}

// inputTypes returns the types of an unchanged parameter: of the Go function, and of the C helper function.
// Both are "" if Go cannot pass type t.
func inputTypes(t *ctype.Type) (goType, cType string) {
	s := t.Strip()
	if s == nil {
		return "", ""
	}
	if s.Kind == ctype.Enum {
		s = s.Elem.Strip()
	}
	switch s.Kind {
	case ctype.Int, ctype.Uint:
		return numberType(s), numberType(s) + "_t"
	case ctype.Char:
		return "byte", "uint8_t"
	case ctype.Bool:
		return "bool", "_Bool"
	case ctype.Float:
		return numberType(s), map[int64]string{4: "float", 8: "double"}[s.Size]
	case ctype.Pointer:
		if to := s.Elem.Strip(); to != nil && to.Kind == ctype.Char && isConst(s.Elem) {
			return "string", "char *"
		}
		return "unsafe.Pointer", "void *"
	}
	return "", ""
}

// isConst reports whether a type is const, or a typedef of a const type.
func isConst(t *ctype.Type) bool {
	for ; t != nil && t.Kind == ctype.Typedef; t = t.Elem {
		if t.Const {
			return true
		}
	}
	return false
}

// planResult checks that the result of the function can have the role that the user states. It sets c.OutC
// if the result is the output, or c.LenC if it is its number of elements.
func (d *deriver) planResult(c *Call, w WantedCall, rejectCall func(string, ...any)) bool {
	t := w.Type.Elem
	s := t.Strip()
	isVoid := s == nil || s.Kind == ctype.Void
	if s != nil && s.Kind == ctype.Enum { // stored as an integer
		s = s.Elem.Strip()
	}
	isInteger := s != nil && (s.Kind == ctype.Int || s.Kind == ctype.Uint || s.Kind == ctype.Bool || s.Kind == ctype.Char)
	switch {
	case isVoid && c.Result == None:
		return true
	case isVoid:
		rejectCall("returns nothing, and %s is wanted", c.Result)
	case c.Result == None:
		rejectCall("returns %s: say what that is: error, ok, len or out", t)
	case c.Result != Out && !isInteger:
		rejectCall("returns %s, which is no %s", t, c.Result)
	case c.Result == Out && c.OutC != nil, c.Result == Len && c.LenC != nil:
		rejectCall("has %s as a parameter and as its result", c.Result)
	case c.Result == Out:
		c.OutC = t
		if s.Kind == ctype.Struct || s.Kind == ctype.Union {
			rejectCall("returns %s by value: wrap it in C, by a pointer", t)
			return false
		}
		return true
	case c.Result == Len:
		c.LenC = t
		return true
	default:
		return true
	}
	return false
}

// planOutput plans how the output of the function is copied. For a pointer to one struct it sets c.One.
// Otherwise it sets c.Out, the struct in which the C helper returns the output and its count.
func (d *deriver) planOutput(c *Call, w WantedCall, rejectCall func(string, ...any)) bool {
	out := c.OutC.Strip()
	if out == nil || strings.Contains(c.OutC.String(), "without a name") {
		rejectCall("gives %s, which C cannot name", c.OutC)
		return false
	}
	key := w.C + ".out"
	tag, hasTag := d.options.Tags[key]
	if hasTag {
		d.used[key] = true
	}
	if out.Kind == ctype.Pointer && c.LenC == nil && !tag.Opaque {
		if to := out.Elem.Strip(); to != nil && to.Kind == ctype.Struct {
			output := &memberContext{deriver: d, struc: &Struct{Go: c.Go}, cName: w.C, field: Field{Go: "Out", C: "out"}}
			c.One = output.planInner(out.Elem, to)
			return c.One != nil
		}
	}
	t := &ctype.Type{Kind: ctype.Struct, Fields: []ctype.Field{{Name: "out", Type: c.OutC}}, Size: out.Size, Language: ctype.C}
	if c.LenC != nil {
		n := c.LenC.Strip()
		if n == nil || n.Size == 0 {
			rejectCall("has a len of type %s", c.LenC)
			return false
		}
		t.Size = roundUp(t.Size, n.Size)
		t.Fields = append(t.Fields, ctype.Field{Name: "len", Type: c.LenC, Offset: t.Size})
		t.Size += n.Size
		tag.Len = "len"
		if d.options.Tags == nil {
			d.options.Tags = map[string]Tag{}
		}
		d.options.Tags[key] = tag
		d.used[key] = true
	}
	before := len(d.refusals)
	c.Out = &Struct{Go: strings.ToLower(c.Go[:1]) + c.Go[1:] + "Out", C: t, CName: w.C}
	d.addFields(c.Out, t, w.C, 0, "")
	setProperties(c.Out, d.options.Word)
	return len(d.refusals) == before
}

func formatPrototype(t *ctype.Type) string {
	var params []string
	for _, p := range t.Params {
		params = append(params, p.String())
	}
	if t.Variadic {
		params = append(params, "...")
	}
	return fmt.Sprintf("%s (%s)", t.Elem, strings.Join(params, ", "))
}
