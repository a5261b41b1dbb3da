package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// checkGlobals finds package variables that can change: those declared
// without a value, those that hold a flag, a lock or an atomic, and those that
// are assigned to, incremented, emptied or whose address is taken anywhere in
// their package. Test files and go:embed variables are exempt, and the golden
// helper's flag.
func checkGlobals(t *Tree) []string {
	var out []string
	for dir, files := range packages(t) {
		vars := map[string]token.Pos{}
		for _, f := range files {
			for _, g := range globals(f) {
				if why := g.mutable(); why != "" && (dir != "internal/golden" || !g.flag()) {
					out = append(out, fmt.Sprintf("%s: package variable %s %s", t.at(g.pos), g.name, why))
				}
				vars[g.name] = g.pos
			}
		}
		for _, f := range files {
			for name, pos := range written(f.AST, vars) {
				out = append(out, fmt.Sprintf("%s: package variable %s is changed", t.at(pos), name))
			}
		}
	}
	return out
}

// packages groups the files whose globals count by directory and name.
func packages(t *Tree) map[string][]*File {
	out := map[string][]*File{}
	for _, f := range t.Files {
		if !f.free() && !f.Test {
			out[f.Dir] = append(out[f.Dir], f)
		}
	}
	return out
}

type global struct {
	name  string
	pos   token.Pos
	value ast.Expr // nil: none
}

func globals(f *File) []global {
	var out []global
	for _, d := range f.AST.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			if embeds(decl.Doc) || embeds(spec.Doc) {
				continue
			}
			for i, name := range spec.Names {
				g := global{name: name.Name, pos: name.Pos()}
				switch {
				case i < len(spec.Values):
					g.value = spec.Values[i]
				case len(spec.Values) == 1:
					g.value = spec.Values[0]
				}
				if g.name != "_" {
					out = append(out, g)
				}
			}
		}
	}
	return out
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

func (g global) mutable() string {
	switch {
	case g.value == nil:
		return "has no value of its own, so something must change it"
	case g.flag():
		return "is a flag"
	case g.shared():
		return "holds a lock or an atomic, so something behind it changes"
	}
	return ""
}

// shared reports whether the value is made of what guards changing state.
func (g global) shared() bool {
	found := false
	ast.Inspect(g.value, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok && (pkg.Name == "atomic" || pkg.Name == "sync") && !strings.HasPrefix(sel.Sel.Name, "OnceValue") {
				found = true
			}
		}
		return !found
	})
	return found
}

func (g global) flag() bool {
	call, ok := g.value.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "flag"
}

// written returns where one of vars is changed in f. It goes by name, so a
// local variable of the same name counts too: such a name is confusing anyway,
// unless it is declared in the very same function.
func written(f *ast.File, vars map[string]token.Pos) map[string]token.Pos {
	out := map[string]token.Pos{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		local := declared(fn)
		note := func(x ast.Expr) {
			if id := root(x); id != nil && !local[id.Name] {
				if _, known := vars[id.Name]; known {
					out[id.Name] = id.Pos()
				}
			}
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, x := range n.Lhs {
						note(x)
					}
				}
			case *ast.IncDecStmt:
				note(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					note(n.X)
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 {
					note(n.Args[0])
				}
			}
			return true
		})
	}
	return out
}

// root is the variable at the bottom of x: of a.b[i].c it is a.
func root(x ast.Expr) *ast.Ident {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// declared are the names a function declares: parameters, results, variables.
func declared(fn *ast.FuncDecl) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				out[name.Name] = true
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, x := range n.Lhs {
					if id, ok := x.(*ast.Ident); ok {
						out[id.Name] = true
					}
				}
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					out[id.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				out[name.Name] = true
			}
		}
		return true
	})
	return out
}
