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

// WantedCall is a function to wrap.
type WantedCall struct {
	CallSpec
	Type *ctype.Type // of the function
}

// planCall plans one function.
func (d *deriver) planCall(w WantedCall) {
	c := &Call{C: w.C, Go: w.As, Says: formatPrototype(w.Type), Result: w.Result, Text: w.Text, Free: w.Free, With: w.With}
	bad := func(format string, args ...any) {
		d.reject(Refusal{Struct: w.C, Field: "()", Type: c.Says, Reason: fmt.Sprintf(format, args...), Remedy: "see cgocopy help gen"})
	}
	if c.Go == "" {
		c.Go = Exported(w.C)
	}
	switch {
	case c.Go == "":
		bad("has a name that cannot be written in Go")
		return
	case w.Type.Variadic:
		bad("takes any number of arguments, or declares none: write (void)")
		return
	case len(w.Params) != len(w.Type.Params):
		bad("takes %d arguments, and %d are described", len(w.Type.Params), len(w.Params))
		return
	}
	if !d.claimName(w.Type, c.Go, w.C) {
		return
	}
	if !d.planParams(c, w, bad) || !d.planResult(c, w, bad) {
		return
	}
	switch {
	case c.LenC != nil && c.OutC == nil:
		bad("has a len, and no out that it counts")
	case c.Free != "" && (c.OutC == nil || c.OutC.Strip().Kind != ctype.Pointer):
		bad("gives no pointer that could be freed")
	case slices.Contains(c.With, string(Len)) && c.LenC == nil:
		bad("is freed with a len, and has none")
	case c.OutC == nil || d.planOutput(c, w, bad):
		d.plan.Calls = append(d.plan.Calls, c)
	}
}

// planParams checks the parameters.
func (d *deriver) planParams(c *Call, w WantedCall, bad func(string, ...any)) bool {
	for i, name := range w.Params {
		t := w.Type.Params[i]
		s := t.Strip()
		p := Param{Role: Role(name)}
		switch p.Role {
		case Out, Len:
			if s == nil || s.Kind != ctype.Pointer {
				bad("has %s as %s, which is no pointer to write it to", name, t)
				return false
			}
			at := &c.OutC
			if p.Role == Len {
				at = &c.LenC
			}
			if *at != nil {
				bad("has two parameters %s", name)
				return false
			}
			*at = s.Elem
			c.Inline = c.Inline || p.Role == Out && s.Elem.Strip() != nil && s.Elem.Strip().Kind == ctype.Struct
		default:
			if p.Go = paramName(name, c.Params); p.Go == "" {
				bad("has a parameter %s, which cannot be written in Go", name)
				return false
			}
			p.Role = In
			if p.Type, p.C = inputTypes(t); p.Type == "" {
				bad("takes %s, which Go cannot pass", t)
				return false
			}
		}
		c.Params = append(c.Params, p)
	}
	return true
}

// paramName returns the Go name of a parameter: not a keyword, and not used before.
func paramName(name string, before []Param) string {
	goName := Exported(name)
	if goName == "" {
		return ""
	}
	first, n := utf8.DecodeRuneInString(goName)
	goName = string(unicode.ToLower(first)) + goName[n:]
	if goName[n:] == strings.ToUpper(goName[n:]) {
		goName = strings.ToLower(goName) // ID is id
	}
	taken := func() bool {
		return token.IsKeyword(goName) || slices.Contains([]string{"raw", "d", "a", "err", "code", "unsafe", "cgocopy", "string", "len", "nil"}, goName) ||
			slices.ContainsFunc(before, func(p Param) bool { return p.Go == goName })
	}
	for taken() {
		goName += "_"
	}
	return goName
}

// inputTypes returns how a parameter is passed through: its type in Go, and in C.
func inputTypes(t *ctype.Type) (goes, c string) {
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

// isConst reports whether a type is const by one of its names.
func isConst(t *ctype.Type) bool {
	for ; t != nil && t.Kind == ctype.Typedef; t = t.Elem {
		if t.Const {
			return true
		}
	}
	return false
}

// planResult checks the result of the function.
func (d *deriver) planResult(c *Call, w WantedCall, bad func(string, ...any)) bool {
	t := w.Type.Elem
	s := t.Strip()
	void := s == nil || s.Kind == ctype.Void
	if s != nil && s.Kind == ctype.Enum {
		s = s.Elem.Strip()
	}
	integer := s != nil && (s.Kind == ctype.Int || s.Kind == ctype.Uint || s.Kind == ctype.Bool || s.Kind == ctype.Char)
	switch {
	case void && c.Result == None:
		return true
	case void:
		bad("returns nothing, and %s is wanted", c.Result)
	case c.Result == None:
		bad("returns %s: say what that is: error, ok, len or out", t)
	case c.Result != Out && !integer:
		bad("returns %s, which is no %s", t, c.Result)
	case c.Result == Out && c.OutC != nil, c.Result == Len && c.LenC != nil:
		bad("has %s as a parameter and as its result", c.Result)
	case c.Result == Out:
		c.OutC = t
		if s.Kind == ctype.Struct || s.Kind == ctype.Union {
			bad("returns %s by value: wrap it in C, by a pointer", t)
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

// planOutput plans the output of the function, as members of a struct that only a helper in C has:
// out, and after it len.
func (d *deriver) planOutput(c *Call, w WantedCall, bad func(string, ...any)) bool {
	out := c.OutC.Strip()
	if out == nil || strings.Contains(c.OutC.String(), "without a name") {
		bad("gives %s, which C cannot name", c.OutC)
		return false
	}
	key := w.C + ".out"
	tag, said := d.options.Tags[key]
	if said {
		d.used[key] = true
	}
	if out.Kind == ctype.Pointer && c.LenC == nil && !tag.Opaque {
		if to := out.Elem.Strip(); to != nil && to.Kind == ctype.Struct {
			at := &memberContext{deriver: d, struc: &Struct{Go: c.Go}, cName: w.C, field: Field{Go: "Out", C: "out"}}
			c.One = at.planInner(out.Elem, to)
			return c.One != nil
		}
	}
	t := &ctype.Type{Kind: ctype.Struct, Fields: []ctype.Field{{Name: "out", Type: c.OutC}}, Size: out.Size, Language: ctype.C}
	if c.LenC != nil {
		n := c.LenC.Strip()
		if n == nil || n.Size == 0 {
			bad("has a len of type %s", c.LenC)
			return false
		}
		t.Size = (t.Size + n.Size - 1) / n.Size * n.Size
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
	c.Out = &Struct{Go: strings.ToLower(c.Go[:1]) + c.Go[1:] + "Out", C: t, Says: w.C}
	d.addFields(c.Out, t, w.C, 0, "")
	setProperties(c.Out, d.options.Word)
	return len(d.refusals) == before
}

// formatPrototype returns a function in the notation of C.
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
