package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// HasCgo reports whether a plan needs the file that [Cgo] writes.
func HasCgo(p *plan.Plan) bool {
	return len(p.Calls) > 0 || slices.ContainsFunc(p.Structs, frees)
}

// Cgo is the file that calls C: functions that are wrapped, and those that free.
func Cgo(u Unit) ([]byte, error) {
	build := "cgo"
	if u.Build != "" && u.Build != build {
		build += " && (" + u.Build + ")"
	}
	u.Build = build
	f := u.begin()
	f.loose = loose(u.Plan)
	f.line("/*")
	f.cgoFlags(u.Flags)
	f.line("#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>")
	f.includes(u.Headers)
	for _, name := range freeing(u.Plan) {
		f.line("\nstatic void %s(void *p) { %s(p); }", helper("free", name), name)
	}
	for _, c := range u.Plan.Calls {
		f.helpers(c)
	}
	f.line("*/\nimport \"C\"\n\nimport (\n\t\"unsafe\"\n\n\t%q\n)\n", runtimePath)
	for _, s := range u.Plan.Structs {
		f.take(s)
	}
	for _, c := range u.Plan.Calls {
		f.call(c)
	}
	src, err := f.source()
	if err != nil {
		return nil, err
	}
	return unneeded(src), nil
}

// unneeded leaves out an import that nothing uses.
func unneeded(src []byte) []byte {
	text := string(src)
	_, body, _ := strings.Cut(text, runtimePath+"\"\n")
	for name, line := range map[string]string{"unsafe.": "\t\"unsafe\"\n\n", "cgocopy.": "\t\"" + runtimePath + "\"\n"} {
		if !strings.Contains(body, name) {
			text = strings.Replace(text, line, "", 1)
		}
	}
	return []byte(strings.Replace(text, "import ()\n", "", 1))
}

// helper is the name of one of our functions in C.
func helper(what, name string) string { return "cgocopy_" + what + "_" + name }

// raw reports whether a call gives anything through memory.
func raw(c *plan.Call) bool { return c.OutC != nil || c.LenC != nil }

// helpers are what Go calls: with types that Go can name, and one struct for
// what is given.
func (f *file) helpers(c *plan.Call) {
	name := c.C
	var params, args []string
	for i, p := range c.Params {
		switch p.Role {
		case plan.In:
			arg := fmt.Sprintf("a%d", i)
			params, args = append(params, pointed(p.C, arg)), append(args, arg)
		case plan.Out, plan.Len:
			args = append(args, fmt.Sprintf("(void *)&r->%s", p.Role))
		}
	}
	if raw(c) {
		f.line("\nstruct %s {", helper("given_by", name))
		f.line("\t%s;", variable(c.OutC, "out"))
		if c.LenC != nil {
			f.line("\t%s;", variable(c.LenC, "len"))
		}
		f.line("};")
		if c.LenC != nil {
			f.line("_Static_assert(offsetof(struct %s, len) == %d, \"%s gives something of another size; run go generate\");", helper("given_by", name), c.Out.C.Fields[1].Offset, name)
		}
		params = append(params, fmt.Sprintf("struct %s *r", helper("given_by", name)))
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	call := fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
	f.line("\nstatic int64_t %s(%s) {", helper("call", name), strings.Join(params, ", "))
	switch c.Result {
	case plan.Error, plan.OK:
		f.line("\treturn %s;", call)
	case plan.Out:
		cast := ""
		if c.OutC.Strip().Kind == ctype.Pointer {
			cast = "(void *)" // it may be const
		}
		f.line("\tr->out = %s%s;\n\treturn 0;", cast, call)
	case plan.Len:
		f.line("\tr->len = %s;\n\treturn 0;", call)
	default:
		f.line("\t%s;\n\treturn 0;", call)
	}
	f.line("}")
	if c.Free != "" {
		with := []string{"r->out"}
		if c.With != nil {
			with = nil
			for _, w := range c.With {
				if w == string(plan.Out) || w == string(plan.Len) {
					w = "r->" + w
				}
				with = append(with, w)
			}
		}
		f.line("\nstatic void %s(struct %s *r) {", helper("free_of", name), helper("given_by", name))
		f.line("\tif (r->out) %s(%s);\n\tr->out = 0;\n}", c.Free, strings.Join(with, ", "))
	}
	if c.Text != "" {
		f.line("\nstatic const char *%s(int64_t code) { return %s(code); }", helper("text_of", name), c.Text)
	}
}

// variable declares one of a type.
func variable(t *ctype.Type, name string) string { return pointed(t.String(), name) }

// pointed puts a name behind a type, as C is usually written.
func pointed(c, name string) string {
	if rest, ok := strings.CutSuffix(c, "*"); ok {
		return strings.TrimRight(rest, " ") + " *" + name
	}
	return c + " " + name
}

// call is the Go function.
func (f *file) call(c *plan.Call) {
	if c.Out != nil {
		f.line("type %s struct {", c.Out.Go)
		for _, m := range c.Out.Fields {
			f.line("\t%s %s", m.Go, m.Rule.Go)
		}
		f.line("}\n")
		f.fill(c.Out)
	}
	gives, value, zero := "", "", ""
	switch {
	case c.One != nil:
		gives, value, zero = c.One.Go, "d", "d"
	case c.Out != nil:
		gives, value, zero = c.Out.Fields[0].Rule.Go, "d.Out", "d.Out"
	}
	f.doc(c)
	var params, args []string
	for _, p := range c.Params {
		if p.Role == plan.In {
			params = append(params, p.Go+" "+p.Type)
		}
	}
	results, failed := "error", "return "
	if gives != "" {
		results, failed = "("+gives+", error)", "return "+zero+", "
	}
	f.line("func %s(%s) %s {", c.Go, strings.Join(params, ", "), results)
	for _, p := range c.Params {
		if p.Role == plan.In {
			args = append(args, f.argument(p))
		}
	}
	given := "struct_" + helper("given_by", c.C)
	if c.Inline {
		f.line("raw := (*C.%s)(C.calloc(1, C.sizeof_%s))\ndefer C.free(unsafe.Pointer(raw))", given, given)
		args = append(args, "raw")
	} else if raw(c) {
		f.line("var raw C.%s", given)
		args = append(args, "&raw")
	}
	if c.Free != "" {
		f.line("defer C.%s(&raw)", helper("free_of", c.C))
	}
	switch {
	case c.One != nil:
		f.line("var d %s", c.One.Go)
	case c.Out != nil:
		f.line("var d %s", c.Out.Go)
	}
	call := fmt.Sprintf("C.%s(%s)", helper("call", c.C), strings.Join(args, ", "))
	if c.Result == plan.Error || c.Result == plan.OK {
		is := map[plan.Role]string{plan.Error: "!=", plan.OK: "=="}[c.Result]
		text := ""
		if c.Text != "" {
			text = fmt.Sprintf(", Text: C.GoString(C.%s(code))", helper("text_of", c.C))
		}
		f.line("if code := %s; code %s 0 {\n%s&cgocopy.CodeError{Func: %q, Code: int64(code)%s}\n}", call, is, failed, c.C, text)
	} else {
		f.line("%s", call)
	}
	at := "unsafe.Pointer(&raw)"
	if c.Inline {
		at = "unsafe.Pointer(raw)"
	}
	switch {
	case c.One != nil:
		f.line("if err := d.FromC(unsafe.Pointer(raw.out)); err != nil {\n%scgocopy.In(%q, err)\n}", failed, c.C)
	case c.Out != nil:
		arena := "nil"
		if c.Out.Allocs && c.Out.Fields[0].Rule.Op == plan.Slice {
			f.line("a := cgocopy.NewArena(1, 256)")
			arena = "&a"
		}
		fill := fmt.Sprintf("d.fromC(%s)", f.arguments(c.Out, at, arena, fmt.Sprint(depth(c.Out))))
		if c.Out.Fails {
			f.line("if err := %s; err != nil {\n%serr\n}", fill, failed)
		} else {
			f.line("%s", fill)
		}
	}
	if value != "" {
		value += ", "
	}
	f.line("return %snil\n}\n", value)
}

// doc says what a function does.
func (f *file) doc(c *plan.Call) {
	more := "."
	if c.One != nil || c.Out != nil {
		more = " and copies what it gives."
	}
	f.line("// %s calls %s%s", c.Go, c.C, more)
	if c.Free != "" {
		f.line("//\n// What is given is freed once by %s, also where the copy fails, and where", c.Free)
		f.line("// the function fails and gives something all the same.")
	}
}

// argument is a parameter as the helper takes it.
func (f *file) argument(p plan.Param) string {
	switch p.Type {
	case "unsafe.Pointer":
		return p.Go
	case "string":
		f.line("%sC := C.CString(%s)\ndefer C.free(unsafe.Pointer(%sC))", p.Go, p.Go, p.Go)
		return p.Go + "C"
	}
	return fmt.Sprintf("C.%s(%s)", p.C, p.Go)
}
