package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// suite holds the benchmarks of a package.
type suite struct {
	benchmarks []*benchmark
	ignores    map[place][]string   // rules switched off
	checked    map[*types.Func]bool // functions whose errors tests look at; nil until a rule asks
	unclear    []unclearComment     // that were to switch off a rule, and do not
}

// unclearComment is a comment that was to switch off a rule.
type unclearComment struct {
	comment *ast.Comment
	why     error
}

// place is a line of a file.
type place struct {
	file string
	line int
}

// benchmark is a function, or a function literal, that has a *testing.B.
type benchmark struct {
	name  string        // of the declared function around it
	decl  *ast.FuncDecl // the declared function around it
	node  ast.Node      // decl, or the literal
	body  *ast.BlockStmt
	b     *types.Var // the parameter; nil if it has no name
	outer *benchmark // the benchmark around a literal; nil if there is none
	loops []*loop    // those over its own b, also if they are in goroutines
	sized map[types.Object]bool
}

// kind says what ends a loop.
type kind int

const (
	overN  kind = iota // i < b.N, range b.N
	byLoop             // b.Loop()
	byNext             // pb.Next()
)

// loop is a loop of a benchmark over its iterations.
type loop struct {
	kind  kind
	owner *benchmark
	node  ast.Stmt
	body  *ast.BlockStmt
	path  []ast.Node // from the body of the owner to the loop, which is its last
	timed bool       // false if it runs before ResetTimer or after StopTimer
}

// readSuite finds the benchmarks of a package, and the comments that switch off
// rules, whose ids known holds.
func readSuite(pass *analysis.Pass, known []string) *suite {
	s := &suite{ignores: map[place][]string{}}
	for _, file := range pass.Files {
		if !importsTesting(file) {
			continue
		}
		s.readIgnores(pass, file, known)
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				s.readFunc(pass.TypesInfo, fn)
			}
		}
	}
	return s
}

// importsTesting reports whether a file imports package testing.
func importsTesting(file *ast.File) bool {
	for _, i := range file.Imports {
		if i.Path.Value == `"testing"` {
			return true
		}
	}
	return false
}

// readIgnores records the comments of a file that switch off rules: on their own
// line and the next, and in the whole function whose comment they stand in.
func (s *suite) readIgnores(pass *analysis.Pass, file *ast.File, known []string) {
	add := func(rule string, from, to int, name string) {
		for line := from; line <= to; line++ {
			s.ignores[place{name, line}] = append(s.ignores[place{name, line}], rule)
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			i, ok, err := audit.ParseIgnore(strings.TrimPrefix(c.Text, "//"), known)
			if ok && err != nil {
				s.unclear = append(s.unclear, unclearComment{c, err})
			}
			if !ok || err != nil {
				continue
			}
			at := pass.Fset.Position(c.Pos())
			add(i.Rule, at.Line, at.Line+1, at.Filename)
			for _, d := range file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Doc == group {
					add(i.Rule, at.Line, pass.Fset.Position(fn.End()).Line, at.Filename)
				}
			}
		}
	}
}

func (s *suite) isIgnored(rule string, at token.Position) bool {
	for _, r := range s.ignores[place{at.Filename, at.Line}] {
		if r == rule {
			return true
		}
	}
	return false
}

// nameAt returns the name of the benchmark in which a node stands, "" if that is a
// function that several benchmarks may call.
func (s *suite) nameAt(node ast.Node) string {
	for _, b := range s.benchmarks {
		if b.decl.Pos() <= node.Pos() && node.Pos() < b.decl.End() && strings.HasPrefix(b.name, "Benchmark") {
			return b.name
		}
	}
	return ""
}

// readFunc adds a function if it has a *testing.B, and the literals in it that
// have one, each with its loops.
func (s *suite) readFunc(info *types.Info, fn *ast.FuncDecl) {
	var read func(node ast.Node, t *ast.FuncType, body *ast.BlockStmt, outer *benchmark)
	read = func(node ast.Node, t *ast.FuncType, body *ast.BlockStmt, outer *benchmark) {
		own := outer
		if b, ok := paramOf(info, t, "B"); ok {
			own = &benchmark{name: fn.Name.Name, decl: fn, node: node, body: body, b: b, outer: outer}
			s.benchmarks = append(s.benchmarks, own)
		}
		inspectPath(body, func(n ast.Node, path []ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				read(lit, lit.Type, lit.Body, own)
				return false
			}
			return true
		})
	}
	first := len(s.benchmarks)
	read(fn, fn.Type, fn.Body, nil)
	for _, b := range s.benchmarks[first:] {
		b.readLoops(info)
	}
}

// paramOf returns the parameter of type *testing.NAME of a function. It is nil if
// the parameter has no name.
func paramOf(info *types.Info, t *ast.FuncType, name string) (*types.Var, bool) {
	for _, field := range t.Params.List {
		if !isNamed(info.TypeOf(field.Type), "testing", name) {
			continue
		}
		for _, n := range field.Names {
			if v, ok := info.Defs[n].(*types.Var); ok {
				return v, true
			}
		}
		return nil, true
	}
	return nil, false
}

// readLoops finds the loops over the iterations of a benchmark. Those in literals
// that have a *testing.B of their own belong to these.
func (b *benchmark) readLoops(info *types.Info) {
	b.sized = findSized(info, b)
	inspectPath(b.body, func(n ast.Node, path []ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			_, own := paramOf(info, lit.Type, "B")
			return !own
		}
		stmt, ok := n.(ast.Stmt)
		if !ok {
			return true
		}
		l := &loop{owner: b, node: stmt}
		var ends ast.Expr
		switch stmt := stmt.(type) {
		case *ast.ForStmt:
			l.body, ends = stmt.Body, stmt.Cond
			if init, ok := stmt.Init.(*ast.AssignStmt); ok && len(init.Rhs) == 1 && ends != nil && b.isOfN(info, init.Rhs[0]) {
				ends = init.Rhs[0]
			}
		case *ast.RangeStmt:
			l.body, ends = stmt.Body, stmt.X
		}
		if ends == nil || !l.endsBy(info, ends) {
			return true
		}
		l.path = append([]ast.Node{b.body}, path...)
		l.timed = l.isTimed(info)
		b.loops = append(b.loops, l)
		return true
	})
}

// endsBy sets the kind of a loop by the expression that ends it, and reports
// whether that is one of a benchmark.
func (l *loop) endsBy(info *types.Info, ends ast.Expr) bool {
	if call, ok := ends.(*ast.CallExpr); ok {
		switch {
		case isMethod(info, call, "testing", "B", "Loop"):
			l.kind = byLoop
			return true
		case isMethod(info, call, "testing", "PB", "Next"):
			l.kind = byNext
			return true
		}
	}
	return l.owner.isOfN(info, ends)
}

// isOfN reports whether an expression contains b.N, or a variable made of it.
func (b *benchmark) isOfN(info *types.Info, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "N" && isNamed(info.TypeOf(n.X), "testing", "B")
		case *ast.Ident:
			found = found || b.sized[info.Uses[n]]
		}
		return !found
	})
	return found
}

// findSized returns the variables of a benchmark that are b.N, computed from it,
// or made as long as it.
func findSized(info *types.Info, b *benchmark) map[types.Object]bool {
	b.sized = map[types.Object]bool{}
	if b.outer != nil {
		for v := range b.outer.sized {
			b.sized[v] = true
		}
	}
	ast.Inspect(b.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, rhs := range a.Rhs {
			if call, ok := rhs.(*ast.CallExpr); ok && !isMake(info, call) && !info.Types[call.Fun].IsType() {
				continue
			}
			if id, ok := a.Lhs[i].(*ast.Ident); ok && b.isOfN(info, rhs) && info.Defs[id] != nil {
				b.sized[info.Defs[id]] = true
			}
		}
		return true
	})
	return b.sized
}

// isTimed reports whether a loop runs while the timer does, and no ResetTimer
// follows it, by the calls next to it and to the statements around it.
func (l *loop) isTimed(info *types.Info) bool {
	if l.kind == byLoop {
		return true
	}
	for i := 0; i+1 < len(l.path); i++ {
		for _, s := range statements(l.path[i]) {
			if s.Pos() > l.path[i+1].Pos() && timerCall(info, s) == "ResetTimer" {
				return false
			}
		}
	}
	return !l.isStopped(info)
}

// isStopped reports whether the timer is stopped when a loop begins.
func (l *loop) isStopped(info *types.Info) bool {
	stopped := false
	for i := 0; i+1 < len(l.path); i++ {
		for _, s := range statements(l.path[i]) {
			if s.Pos() >= l.path[i+1].Pos() {
				break
			}
			switch timerCall(info, s) {
			case "StopTimer":
				stopped = true
			case "StartTimer":
				stopped = false
			}
		}
	}
	return stopped
}

// statements returns the statements of a block or a case.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// timerCall returns the method if a statement is a call of StartTimer, StopTimer
// or ResetTimer, else "".
func timerCall(info *types.Info, s ast.Stmt) string {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return ""
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return ""
	}
	for _, name := range []string{"StartTimer", "StopTimer", "ResetTimer"} {
		if isMethod(info, call, "testing", "B", name) {
			return name
		}
	}
	return ""
}

// countBenchmarks returns the number of functions and literals of a file that have
// a *testing.B.
func countBenchmarks(info *types.Info, file *ast.File) int {
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		if t, ok := node.(*ast.FuncType); ok && t.Params != nil {
			if _, ok := paramOf(info, t, "B"); ok {
				n++
			}
		}
		return true
	})
	return n
}

// findBenchmark returns the innermost benchmark around a node, nil if there is none.
func (s *suite) findBenchmark(node ast.Node) *benchmark {
	var found *benchmark
	for _, b := range s.benchmarks {
		if b.node.Pos() <= node.Pos() && node.Pos() < b.node.End() && (found == nil || found.node.Pos() < b.node.Pos()) {
			found = b
		}
	}
	return found
}
