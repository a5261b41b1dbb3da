package reach

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
)

// lines is the range of a declaration, from 1.
type lines struct{ first, last int }

// changedFunctions returns the functions of a file that differ in base and head, by their lines in
// head. ok is false if anything except functions differs, or if a method or an init function is
// only in one: calls do not show what that reaches.
func changedFunctions(base, head []byte) (changed []lines, ok bool) {
	was, errWas := parseFunctions(base)
	is, errIs := parseFunctions(head)
	if errWas != nil || errIs != nil || was.rest != is.rest {
		return nil, false
	}
	for name, text := range was.functions {
		now, there := is.functions[name]
		switch {
		case !there && isDispatched(name):
			return nil, false
		case there && now != text:
			changed = append(changed, is.places[name])
		}
	}
	for name := range is.functions {
		if _, there := was.functions[name]; there {
			continue
		}
		if isDispatched(name) {
			return nil, false
		}
		changed = append(changed, is.places[name])
	}
	return changed, true
}

// isDispatched reports whether a function of that name can be called without being named: a method
// through an interface, an init function at the start.
func isDispatched(name string) bool {
	return strings.Contains(name, ".") || strings.HasPrefix(name, "init#") || name == "_"
}

// file is a source file without comments.
type file struct {
	functions map[string]string // text by name, of methods with the receiver's
	places    map[string]lines
	rest      string // all except functions, and directives
}

func parseFunctions(src []byte) (file, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return file{}, err
	}
	out := file{functions: map[string]string{}, places: map[string]lines{}}
	var rest bytes.Buffer
	rest.WriteString("package " + tree.Name.Name + "\n")
	inits := 0
	for _, d := range tree.Decls {
		var text bytes.Buffer
		if err := (&printer.Config{}).Fprint(&text, fset, d); err != nil {
			return file{}, err
		}
		f, is := d.(*ast.FuncDecl)
		if !is {
			rest.Write(text.Bytes())
			rest.WriteByte('\n')
			continue
		}
		name := f.Name.Name
		switch {
		case f.Recv != nil && len(f.Recv.List) == 1:
			var receiver bytes.Buffer
			if err := (&printer.Config{}).Fprint(&receiver, fset, f.Recv.List[0].Type); err != nil {
				return file{}, err
			}
			name = receiver.String() + "." + name
		case name == "init":
			inits++
			name += "#" + strings.Repeat("i", inits)
		}
		out.functions[name] = text.String()
		out.places[name] = lines{fset.Position(f.Pos()).Line, fset.Position(f.End()).Line}
	}
	for line := range bytes.Lines(src) { // directives and constraints are comments
		text := bytes.TrimSpace(line)
		if bytes.HasPrefix(text, []byte("//go:")) || bytes.HasPrefix(text, []byte("// +build")) || bytes.HasPrefix(text, []byte("//export")) || bytes.HasPrefix(text, []byte("#")) {
			rest.Write(text)
			rest.WriteByte('\n')
		}
	}
	if bytes.Contains(src, []byte(`import "C"`)) { // its comment is code
		rest.Write(src)
	}
	out.rest = rest.String()
	return out, nil
}
