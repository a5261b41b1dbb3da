package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// This file finds the places of a package that can be changed, the sites, and the resulting mutants.

// mutant is one small change to a package, e.g. < to >=, which the package's tests should notice. It has
// its function and text, not file and line, so that edits elsewhere do not affect it.
type mutant struct {
	Name     string `json:"name,omitempty"` // of a hand-written mutant
	Package  string `json:"package"`        // directory, relative to the root
	Function string `json:"function,omitempty"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`             // text of the site, at most textLimit bytes; complete for a patch
	Nth      int    `json:"nth,omitempty"`    // index among equal sites of the function
	New      string `json:"new,omitempty"`    // replacement; omitted for kindBody and if longer than textLimit
	Killed   bool   `json:"killed,omitempty"` // whether the mutant was killed when the list was accepted
}

const (
	kindCompare = "compare" // == and !=, < and >=, > and <=
	kindLogic   = "logic"   // && and ||
	kindNegate  = "negate"  // of the condition of an if
	kindCall    = "drop call"
	kindAssign  = "drop assignment"
	kindShift   = "shift constant" // by one
	kindReturn  = "return"         // true for false, nil for an error
	kindBody    = "skip body"      // the function returns zero values immediately
	kindPatch   = "patch"          // hand-written: Text becomes New
)

// textLimit is the maximum length of Text. Most edits inside a long statement should not affect a mutant.
const textLimit = 80

func (m mutant) id() string {
	return strings.Join([]string{m.Package, m.Function, m.Kind, strconv.Itoa(m.Nth), m.Text, m.New}, "|")
}

// rank orders the mutants of a package by chance. It depends only on the seed and the mutant.
func (m mutant) rank(seed uint64) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d|%s", seed, m.id())))
}

// change is a mutant found in the source: an edit of bytes of one file.
type change struct {
	mutant
	file       string // absolute path
	line       int
	start, end int    // offsets of the replaced bytes
	with       string // the new bytes
}

func (c change) apply() ([]byte, error) {
	src, err := os.ReadFile(c.file)
	if err != nil {
		return nil, err
	}
	return slices.Concat(src[:c.start], []byte(c.with), src[c.end:]), nil
}

// flipped maps operators to their opposite.
var flipped = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS,
	token.GTR: token.LEQ, token.LEQ: token.GTR, token.LAND: token.LOR, token.LOR: token.LAND,
}

// findChanges returns all mutants of a package, in files that this machine builds and that are not
// generated.
func findChanges(root, pkg string) ([]change, error) {
	dir := filepath.Join(root, pkg)
	files, err := sourceFiles(dir)
	if err != nil {
		return nil, err
	}
	f := finder{pkg: pkg, seen: map[string]int{}}
	for _, name := range files {
		f.file = filepath.Join(dir, name)
		if f.src, err = os.ReadFile(f.file); err != nil {
			return nil, err
		}
		f.set = token.NewFileSet()
		tree, err := parser.ParseFile(f.set, f.file, f.src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(tree) {
			continue
		}
		for _, d := range tree.Decls {
			f.addDeclaration(d)
		}
	}
	return f.found, nil
}

// sourceFiles returns the names of the package's files that this machine builds.
func sourceFiles(dir string) ([]string, error) {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	return append(p.GoFiles, p.CgoFiles...), nil
}

// findPatches returns a change for each occurrence of a patch's text. There should be one.
func findPatches(root string, m mutant) ([]change, error) {
	dir := filepath.Join(root, m.Package)
	files, err := sourceFiles(dir)
	if err != nil {
		return nil, err
	}
	var found []change
	for _, name := range files {
		path := filepath.Join(dir, name)
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for from := 0; ; {
			i := strings.Index(string(src[from:]), m.Text)
			if i < 0 {
				break
			}
			start := from + i
			from = start + len(m.Text)
			found = append(found, change{
				mutant: m, file: path, line: 1 + strings.Count(string(src[:start]), "\n"), start: start, end: from, with: m.New,
			})
		}
	}
	return found, nil
}

type finder struct {
	pkg      string
	file     string
	src      []byte
	set      *token.FileSet
	function string
	results  []string       // of the current function
	seen     map[string]int // mutants so far, by their id with Nth 0
	found    []change
}

// addChange adds the change that replaces start to end by with. The text of site identifies it; nil means
// none.
func (f *finder) addChange(kind string, site ast.Node, start, end token.Pos, with string) {
	text := ""
	if site != nil {
		text = f.text(site)
		if kind == kindShift { // a number is not unique: take the rest of its line
			from, to := f.set.Position(start).Offset, f.set.Position(end).Offset
			from = bytes.LastIndexByte(f.src[:from], '\n') + 1
			text, _, _ = strings.Cut(string(f.src[from:to])+string(f.src[to:]), "\n")
		}
		text = strings.Join(strings.Fields(text), " ")
		text = text[:min(len(text), textLimit)]
	}
	m := mutant{Package: f.pkg, Function: f.function, Kind: kind, Text: strings.ToValidUTF8(text, ""), New: with}
	if kind == kindBody || len(with) > textLimit {
		m.New = ""
	}
	f.seen[m.id()]++
	m.Nth = f.seen[m.id()] - 1
	position := f.set.Position(start)
	f.found = append(f.found, change{
		mutant: m, file: f.file, line: position.Line, start: position.Offset, end: f.set.Position(end).Offset, with: with,
	})
}

func (f *finder) text(n ast.Node) string {
	return string(f.src[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
}

// addDeclaration adds the changes of a function, or of the package's constants.
func (f *finder) addDeclaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.CONST {
				f.function = v.Names[0].Name
				f.addConstants(v)
			}
		}
	case *ast.FuncDecl:
		// Tests need not check every word of messages.
		if d.Body == nil || d.Name.Name == "String" || d.Name.Name == "Error" || d.Name.Name == "main" {
			return
		}
		f.function = d.Name.Name
		if d.Recv != nil {
			f.function = strings.TrimLeft(f.text(d.Recv.List[0].Type), "*") + "." + f.function
		}
		f.results = f.typesOf(d.Type.Results)
		if len(d.Body.List) > 0 {
			f.addChange(kindBody, nil, d.Body.Lbrace+1, d.Body.Lbrace+1, " return "+zeroValues(f.results)+"; ")
		}
		f.walkBody(d.Body)
	}
}

func (f *finder) typesOf(results *ast.FieldList) (types []string) {
	if results == nil {
		return nil
	}
	for _, r := range results.List {
		types = append(types, slices.Repeat([]string{f.text(r.Type)}, max(1, len(r.Names)))...)
	}
	return types
}

func zeroValues(types []string) string {
	values := make([]string, len(types))
	for i, t := range types {
		values[i] = "*new(" + t + ")"
	}
	return strings.Join(values, ", ")
}

func (f *finder) walkBody(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit: // has its own results
			outer := f.results
			f.results = f.typesOf(n.Type.Results)
			f.walkBody(n.Body)
			f.results = outer
			return false
		case *ast.BinaryExpr:
			if op, ok := flipped[n.Op]; ok {
				kind := kindCompare
				if n.Op == token.LAND || n.Op == token.LOR {
					kind = kindLogic
				}
				f.addChange(kind, n, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), op.String())
			}
		case *ast.IfStmt:
			if _, ok := n.Cond.(*ast.BinaryExpr); !ok { // otherwise the operator is changed
				f.addChange(kindNegate, n.Cond, n.Cond.Pos(), n.Cond.End(), "!("+f.text(n.Cond)+")")
			}
		case *ast.ForStmt:
			f.walkFor(n)
			return false
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && !isIgnored(call) {
				f.addChange(kindCall, n, n.Pos(), n.End(), "")
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE && !isBlank(n.Lhs) {
				f.addChange(kindAssign, n, n.Pos(), n.End(), "")
			}
		case *ast.IncDecStmt:
			f.addChange(kindAssign, n, n.Pos(), n.End(), "")
		case *ast.ReturnStmt:
			f.addReturns(n)
		}
		if e, ok := n.(ast.Expr); ok {
			return f.addConstant(e)
		}
		return true
	})
}

// walkFor adds the changes inside a for statement. Without its post statement the loop would not end.
func (f *finder) walkFor(n *ast.ForStmt) {
	for _, part := range []ast.Node{n.Init, n.Cond, n.Body} {
		if part != nil {
			f.walkBody(part)
		}
	}
}

// addReturns adds nil instead of each returned error, and the opposite of each returned bool constant.
func (f *finder) addReturns(n *ast.ReturnStmt) {
	if len(n.Results) == 0 || len(n.Results) != len(f.results) {
		return
	}
	for i, r := range n.Results {
		name, _ := r.(*ast.Ident)
		switch {
		case f.results[i] == "error" && (name == nil || name.Name != "nil"):
			f.addChange(kindReturn, n, r.Pos(), r.End(), "nil")
		case name != nil && name.Name == "true":
			f.addChange(kindReturn, n, r.Pos(), r.End(), "false")
		case name != nil && name.Name == "false":
			f.addChange(kindReturn, n, r.Pos(), r.End(), "true")
		}
	}
}

func (f *finder) addConstants(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			return f.addConstant(e)
		}
		return true
	})
}

// addConstant adds e if it is an integer, and reports whether to continue with its parts. It skips numbers
// that tests should not check: capacities, durations and file modes.
func (f *finder) addConstant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.INT && !strings.HasPrefix(e.Value, "0o") {
			if v, err := strconv.ParseInt(e.Value, 0, 62); err == nil {
				f.addChange(kindShift, e, e.Pos(), e.End(), strconv.FormatInt(v+1, 10))
			}
		}
	case *ast.BinaryExpr:
		if e.Op == token.MUL {
			if unit, ok := e.Y.(*ast.SelectorExpr); ok { // as in 5*time.Second
				x, _ := unit.X.(*ast.Ident)
				return x == nil || x.Name != "time"
			}
		}
	case *ast.CallExpr:
		if name, ok := e.Fun.(*ast.Ident); ok && name.Name == "make" {
			if len(e.Args) > 1 {
				f.addConstants(e.Args[1])
			}
			return false
		}
	case *ast.ArrayType:
		return false
	}
	return true
}

// ignoredCalls lists calls whose absence tests cannot or should not notice: logs and locks.
var ignoredCalls = []string{"Lock", "Unlock", "RLock", "RUnlock", "Helper", "Debug", "Info", "Warn", "panic"}

func isIgnored(call *ast.CallExpr) bool {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return slices.Contains(ignoredCalls, fun.Name)
	case *ast.SelectorExpr:
		x, ok := fun.X.(*ast.Ident)
		return slices.Contains(ignoredCalls, fun.Sel.Name) || ok && (x.Name == "log" || x.Name == "slog")
	}
	return false
}

func isBlank(names []ast.Expr) bool {
	return !slices.ContainsFunc(names, func(e ast.Expr) bool {
		name, ok := e.(*ast.Ident)
		return !ok || name.Name != "_"
	})
}
