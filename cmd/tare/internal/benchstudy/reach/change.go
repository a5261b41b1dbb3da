package reach

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"slices"
	"strings"
)

type lineRange struct{ first, last int }

// changedFunctions returns the lines in head of the functions that differ. If calls do not show
// what the change reaches, ok is false. For example, a new method may be called through an
// interface.
func changedFunctions(base, head []byte) (changed []lineRange, ok bool) {
	baseFile, errBase := parseFunctions(base)
	headFile, errHead := parseFunctions(head)
	if errBase != nil || errHead != nil || baseFile.rest != headFile.rest {
		return nil, false
	}
	for name, text := range baseFile.functions {
		headText, inHead := headFile.functions[name]
		switch {
		case !inHead && isDispatched(name):
			return nil, false
		case inHead && headText != text:
			changed = append(changed, headFile.ranges[name])
		}
	}
	for name := range headFile.functions {
		if _, inBase := baseFile.functions[name]; inBase {
			continue
		}
		if isDispatched(name) {
			return nil, false
		}
		changed = append(changed, headFile.ranges[name])
	}
	return changed, true
}

// isDispatched reports whether code that does not name a function can execute it, such as a method
// through an interface.
func isDispatched(name string) bool {
	return strings.Contains(name, ".") || strings.HasPrefix(name, "init#") || name == "_"
}

type parsedFile struct {
	functions map[string]string // text by name, e.g. of T.Read for a method
	ranges    map[string]lineRange
	rest      string // all other declarations, and directives
}

// parseFunctions divides a source file into functions and the rest. Init functions are called
// init#i, init#ii and so on.
func parseFunctions(src []byte) (parsedFile, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return parsedFile{}, err
	}
	out := parsedFile{functions: map[string]string{}, ranges: map[string]lineRange{}}
	var rest bytes.Buffer
	rest.WriteString("package " + tree.Name.Name + "\n")
	inits := 0
	for _, d := range tree.Decls {
		var text bytes.Buffer
		if err := (&printer.Config{}).Fprint(&text, fset, d); err != nil {
			return parsedFile{}, err
		}
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			rest.Write(text.Bytes())
			rest.WriteByte('\n')
			continue
		}
		name := f.Name.Name
		switch {
		case f.Recv != nil && len(f.Recv.List) == 1:
			var receiver bytes.Buffer
			if err := (&printer.Config{}).Fprint(&receiver, fset, f.Recv.List[0].Type); err != nil {
				return parsedFile{}, err
			}
			name = receiver.String() + "." + name
		case name == "init":
			inits++
			name += "#" + strings.Repeat("i", inits)
		}
		out.functions[name] = text.String()
		out.ranges[name] = lineRange{fset.Position(f.Pos()).Line, fset.Position(f.End()).Line}
	}
	rest.Write(directivesOf(src))
	if bytes.Contains(src, []byte(`import "C"`)) { // comments may be C code
		rest.Write(src)
	}
	out.rest = rest.String()
	return out, nil
}

// directivesOf returns the lines of directives and build constraints. They are comments, which the
// printer omits.
func directivesOf(src []byte) []byte {
	var found bytes.Buffer
	for line := range bytes.Lines(src) {
		text := bytes.TrimSpace(line)
		isDirective := func(prefix string) bool { return bytes.HasPrefix(text, []byte(prefix)) }
		if slices.ContainsFunc([]string{"//go:", "// +build", "//export", "#"}, isDirective) {
			found.Write(text)
			found.WriteByte('\n')
		}
	}
	return found.Bytes()
}
