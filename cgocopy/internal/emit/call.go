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
	return len(p.Calls) > 0 || slices.ContainsFunc(p.Structs, needsTakeFromC)
}

// Cgo returns the file that calls C: Go functions that wrap C functions, and the TakeFromC methods. Its C
// comment has helpers, because Go cannot call every C function directly.
func Cgo(u Unit) ([]byte, error) {
	f := u.newCgoFile()
	f.loose = findLoose(u.Plan)
	f.writeLine("/*")
	f.writeFlags(u.Flags)
	f.writeLine("#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>")
	f.writeIncludes(u.Headers)
	for _, name := range freeFunctions(u.Plan) {
		f.writeLine("\nstatic void %s(void *p) { %s(p); }", helperName("free", name), name)
	}
	for _, c := range u.Plan.Calls {
		f.writeHelpers(c)
	}
	f.writeLine("*/\nimport \"C\"\n\nimport (\n\t\"unsafe\"\n\n\t%q\n)\n", runtimePath)
	for _, s := range u.Plan.Structs {
		f.writeTakeFromC(s)
	}
	for _, c := range u.Plan.Calls {
		f.writeCall(c)
	}
	src, err := f.formatSource()
	if err != nil {
		return nil, err
	}
	return removeUnusedImports(src), nil
}

// removeUnusedImports removes the imports of unsafe and of the run-time library if the code does not use
// them.
func removeUnusedImports(src []byte) []byte {
	text := string(src)
	_, body, _ := strings.Cut(text, runtimePath+"\"\n")
	for name, line := range map[string]string{"unsafe.": "\t\"unsafe\"\n\n", "cgocopy.": "\t\"" + runtimePath + "\"\n"} {
		if !strings.Contains(body, name) {
			text = strings.Replace(text, line, "", 1)
		}
	}
	return []byte(strings.Replace(text, "import ()\n", "", 1))
}

// helperName returns the name of a C helper, a function or a struct. name is the C function that it belongs
// to.
func helperName(purpose, name string) string { return "cgocopy_" + purpose + "_" + name }

// returnsInMemory reports whether the C helper function writes an output to a struct.
func returnsInMemory(c *plan.Call) bool { return c.OutC != nil || c.LenC != nil }

// writeHelpers writes the C helpers of a call. They are a struct for the output and its count, and
// functions that call the C function, free the output and describe an error code. Go can name the types of
// their parameters.
func (f *file) writeHelpers(c *plan.Call) {
	name := c.C
	var params, args []string
	for i, p := range c.Params {
		switch p.Role {
		case plan.In:
			arg := fmt.Sprintf("a%d", i)
			params, args = append(params, appendName(p.C, arg)), append(args, arg)
		case plan.Out, plan.Len:
			args = append(args, fmt.Sprintf("(void *)&r->%s", p.Role))
		}
	}
	if returnsInMemory(c) {
		f.writeLine("\nstruct %s {", helperName("given_by", name))
		f.writeLine("\t%s;", declareVar(c.OutC, "out"))
		if c.LenC != nil {
			f.writeLine("\t%s;", declareVar(c.LenC, "len"))
		}
		f.writeLine("};")
		if c.LenC != nil {
			f.writeLine("_Static_assert(offsetof(struct %s, len) == %d, \"%s gives something of another size; run go generate\");", helperName("given_by", name), c.Out.C.Fields[1].Offset, name)
		}
		params = append(params, fmt.Sprintf("struct %s *r", helperName("given_by", name)))
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	call := fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
	f.writeLine("\nstatic int64_t %s(%s) {", helperName("call", name), strings.Join(params, ", "))
	switch c.Result {
	case plan.Error, plan.OK:
		f.writeLine("\treturn %s;", call)
	case plan.Out:
		cast := ""
		if c.OutC.Strip().Kind == ctype.Pointer {
			cast = "(void *)" // the target may be const, and the member is not
		}
		f.writeLine("\tr->out = %s%s;\n\treturn 0;", cast, call)
	case plan.Len:
		f.writeLine("\tr->len = %s;\n\treturn 0;", call)
	default:
		f.writeLine("\t%s;\n\treturn 0;", call)
	}
	f.writeLine("}")
	if c.Free != "" {
		f.writeFreeHelper(c)
	}
	if c.Text != "" {
		f.writeLine("\nstatic const char *%s(int64_t code) { return %s(code); }", helperName("text_of", name), c.Text)
	}
}

// writeFreeHelper writes the C helper that frees the output of a call.
func (f *file) writeFreeHelper(c *plan.Call) {
	var args []string
	for _, arg := range c.With {
		if arg == string(plan.Out) || arg == string(plan.Len) {
			arg = "r->" + arg
		}
		args = append(args, arg)
	}
	if c.With == nil {
		args = []string{"r->out"}
	}
	f.writeLine("\nstatic void %s(struct %s *r) {", helperName("free_of", c.C), helperName("given_by", c.C))
	f.writeLine("\tif (r->out) %s(%s);\n\tr->out = 0;\n}", c.Free, strings.Join(args, ", "))
}

func declareVar(t *ctype.Type, name string) string { return appendName(t.String(), name) }

// appendName appends a name to a C type: "int x", but "char *x" without a blank.
func appendName(c, name string) string {
	if rest, ok := strings.CutSuffix(c, "*"); ok {
		return strings.TrimRight(rest, " ") + " *" + name
	}
	return c + " " + name
}

// writeCall writes the Go function of a call. It converts arguments, calls the C helper, checks the result,
// copies the output to d and frees it in C.
func (f *file) writeCall(c *plan.Call) {
	if c.Out != nil {
		f.writeOutputType(c.Out)
	}
	outputType, output := "", "" // Go type of the output, and its expression; "" without an output
	switch {
	case c.One != nil:
		outputType, output = c.One.Go, "d"
	case c.Out != nil:
		outputType, output = c.Out.Fields[0].Rule.Go, "d.Out"
	}
	f.writeDoc(c)
	var params, args []string
	for _, p := range c.Params {
		if p.Role == plan.In {
			params = append(params, p.Go+" "+p.Type)
		}
	}
	results, returnPrefix := "error", "return " // the statement returns the error after the prefix
	if outputType != "" {
		results, returnPrefix = "("+outputType+", error)", "return "+output+", "
	}
	f.writeLine("func %s(%s) %s {", c.Go, strings.Join(params, ", "), results)
	for _, p := range c.Params {
		if p.Role == plan.In {
			args = append(args, f.writeArgument(p))
		}
	}
	rawType := "struct_" + helperName("given_by", c.C)
	if c.Inline {
		f.writeLine("raw := (*C.%s)(C.calloc(1, C.sizeof_%s))\ndefer C.free(unsafe.Pointer(raw))", rawType, rawType)
		args = append(args, "raw")
	} else if returnsInMemory(c) {
		f.writeLine("var raw C.%s", rawType)
		args = append(args, "&raw")
	}
	if c.Free != "" {
		f.writeLine("defer C.%s(&raw)", helperName("free_of", c.C))
	}
	switch {
	case c.One != nil:
		f.writeLine("var d %s", c.One.Go)
	case c.Out != nil:
		f.writeLine("var d %s", c.Out.Go)
	}
	f.writeHelperCall(c, args, returnPrefix)
	rawAddress := "unsafe.Pointer(&raw)"
	if c.Inline {
		rawAddress = "unsafe.Pointer(raw)"
	}
	f.writeOutputCopy(c, rawAddress, returnPrefix)
	f.writeLine("%snil\n}\n", returnPrefix)
}

// writeOutputType declares the struct of an output with its count, and its method fromC.
func (f *file) writeOutputType(s *plan.Struct) {
	f.writeLine("type %s struct {", s.Go)
	for _, m := range s.Fields {
		f.writeLine("\t%s %s", m.Go, m.Rule.Go)
	}
	f.writeLine("}\n")
	f.writeFromC(s)
}

// writeOutputCopy writes the copy of the output to d.
func (f *file) writeOutputCopy(c *plan.Call, rawAddress, returnPrefix string) {
	switch {
	case c.One != nil:
		f.writeLine("if err := d.FromC(unsafe.Pointer(raw.out)); err != nil {\n%scgocopy.In(%q, err)\n}", returnPrefix, c.C)
	case c.Out != nil:
		arena := "nil"
		if c.Out.Allocs && c.Out.Fields[0].Rule.Op == plan.Slice {
			f.writeLine("a := cgocopy.NewArena(1, 256)")
			arena = "&a"
		}
		fill := fmt.Sprintf("d.fromC(%s)", f.fromCArgs(c.Out, rawAddress, arena, fmt.Sprint(pointerDepth(c.Out))))
		if c.Out.Fails {
			f.writeLine("if err := %s; err != nil {\n%serr\n}", fill, returnPrefix)
		} else {
			f.writeLine("%s", fill)
		}
	}
}

// writeHelperCall writes the call of the C helper, and the check of a result that can mean a failure.
// returnPrefix begins the statement that returns an error.
func (f *file) writeHelperCall(c *plan.Call, args []string, returnPrefix string) {
	call := fmt.Sprintf("C.%s(%s)", helperName("call", c.C), strings.Join(args, ", "))
	failed := map[plan.Role]string{plan.Error: "code != 0", plan.OK: "code == 0"}[c.Result]
	if failed == "" {
		f.writeLine("%s", call)
		return
	}
	text := ""
	if c.Text != "" {
		text = fmt.Sprintf(", Text: C.GoString(C.%s(code))", helperName("text_of", c.C))
	}
	f.writeLine("if code := %s; %s {\n%s&cgocopy.CodeError{Func: %q, Code: int64(code)%s}\n}", call, failed, returnPrefix, c.C, text)
}

func (f *file) writeDoc(c *plan.Call) {
	more := "."
	if c.One != nil || c.Out != nil {
		more = " and copies what it gives."
	}
	f.writeLine("// %s calls %s%s", c.Go, c.C, more)
	if c.Free != "" {
		f.writeLine("//\n// What is given is freed once by %s, also where the copy fails, and where", c.Free)
		f.writeLine("// the function fails and gives something all the same.")
	}
}

// writeArgument returns the expression that passes a parameter to the C helper. It writes the statements
// that this needs.
func (f *file) writeArgument(p plan.Param) string {
	switch p.Type {
	case "unsafe.Pointer":
		return p.Go
	case "string":
		f.writeLine("%sC := C.CString(%s)\ndefer C.free(unsafe.Pointer(%sC))", p.Go, p.Go, p.Go)
		return p.Go + "C"
	}
	return fmt.Sprintf("C.%s(%s)", p.C, p.Go)
}
