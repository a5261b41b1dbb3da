package gobench

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file finds the benchmarks of a package and their loops, before any rule runs. In this
// example it finds the benchmark BenchmarkSum, its loop of kind overN, and that data has b.N
// elements:
//
//	func BenchmarkSum(b *testing.B) {
//		data := make([]int, b.N)
//		b.ResetTimer()
//		for range b.N { sum(data) }
//	}
//
// A loop, if nothing else is stated, repeats the work of a benchmark. It is timed if the timer of
// the benchmark runs when it begins and is not reset after it. The file also reads comments
// //tare:ignore, which switch off a rule.

// suite has the benchmarks of a package. readSuite makes it once, and all rules read it.
type suite struct {
	benchmarks []*benchmark
	byPosition []*benchmark          // those in functions named Benchmark…, sorted
	ignores    map[fileLine][]string // ids of rules that are switched off in a line
	checked    map[*types.Func]bool  // functions whose error a test file checks; nil until isChecked
	unclear    []unclearComment      // ignore comments without effect
	flow       *flow.Graph           // nil until flowGraph
}

// unclearComment is a tare:ignore comment without a known rule or without a reason.
type unclearComment struct {
	comment *ast.Comment
	err     error // from audit.ParseIgnore
}

// fileLine is a line of a file.
type fileLine struct {
	file string
	line int
}

// benchmark is a function or literal with a parameter *testing.B. With a loop it may have a
// *testing.PB, or a *testing.B in a field, instead.
type benchmark struct {
	name     string        // name of decl
	decl     *ast.FuncDecl // the declared function that is or contains the benchmark
	node     ast.Node      // decl, or the literal that is the benchmark
	body     *ast.BlockStmt
	b        *types.Var            // the parameter b; nil if it has no name
	outer    *benchmark            // the benchmark around a literal; nil for a function
	loops    []*loop               // also those in goroutines
	sizedByN map[types.Object]bool // numbers computed from b.N, and slices and maps of that size
}

// loopKind is the expression that ends a loop.
type loopKind int

const (
	overN  loopKind = iota // i < b.N, range b.N
	byLoop                 // b.Loop()
	byNext                 // pb.Next() in RunParallel
)

// loop is a loop over the iterations of a benchmark.
type loop struct {
	kind  loopKind
	owner *benchmark // the benchmark whose work the loop repeats
	node  ast.Stmt   // the for or range statement
	body  *ast.BlockStmt
	path  []ast.Node // nodes from the body of the owner to the loop itself
	timed bool       // false for a loop before ResetTimer or after StopTimer
}

// block returns the block whose statement the loop is.
func (l *loop) block() ast.Node { return l.path[len(l.path)-2] }

// readSuite finds the benchmarks of a package. known has the ids of all rules.
func readSuite(pass *analysis.Pass, known []string) *suite {
	s := &suite{ignores: map[fileLine][]string{}}
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
	for _, b := range s.benchmarks {
		if strings.HasPrefix(b.name, "Benchmark") {
			s.byPosition = append(s.byPosition, b)
		}
	}
	slices.SortStableFunc(s.byPosition, func(a, b *benchmark) int { return cmp.Compare(a.decl.Pos(), b.decl.Pos()) })
	return s
}

// importsTesting reports whether a file imports package testing.
func importsTesting(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` })
}

// readIgnores records comments "//tare:ignore RULE reason". Each counts for its line and the next
// one, or for the whole function if it is in the comment of one.
func (s *suite) readIgnores(pass *analysis.Pass, file *ast.File, known []string) {
	ignoreLines := func(rule, filename string, first, last int) {
		for line := first; line <= last; line++ {
			at := fileLine{file: filename, line: line}
			s.ignores[at] = append(s.ignores[at], rule)
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			i, isIgnore, err := audit.ParseIgnore(strings.TrimPrefix(c.Text, "//"), known)
			if !isIgnore {
				continue
			}
			if err != nil {
				s.unclear = append(s.unclear, unclearComment{comment: c, err: err})
				continue
			}
			at := pass.Fset.Position(c.Pos())
			ignoreLines(i.Rule, at.Filename, at.Line, at.Line+1)
			for _, d := range file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Doc == group {
					ignoreLines(i.Rule, at.Filename, at.Line, pass.Fset.Position(fn.End()).Line)
				}
			}
		}
	}
}

// isIgnored reports whether a comment switches a rule off in the line of a position.
func (s *suite) isIgnored(rule string, pos token.Position) bool {
	return slices.Contains(s.ignores[fileLine{file: pos.Filename, line: pos.Line}], rule)
}

// nameAt returns the name of the benchmark function around a node, or "".
func (s *suite) nameAt(node ast.Node) string {
	// after is the index of the first benchmark that begins after the node.
	next, _ := slices.BinarySearchFunc(s.byPosition, node.Pos(), func(b *benchmark, pos token.Pos) int {
		if b.decl.Pos() <= pos {
			return -1
		}
		return 1
	})
	if next > 0 && isNodeIn(node, s.byPosition[next-1].decl) {
		return s.byPosition[next-1].name
	}
	return ""
}

// readFunc adds the benchmarks that a function is or contains.
func (s *suite) readFunc(info *types.Info, fn *ast.FuncDecl) {
	var addNested func(node ast.Node, t *ast.FuncType, body *ast.BlockStmt, outer *benchmark)
	addNested = func(node ast.Node, t *ast.FuncType, body *ast.BlockStmt, outer *benchmark) {
		current := outer
		b, ok := paramOf(info, t, "B")

		if ok || outer == nil && hasIterationLoop(info, body) {
			current = &benchmark{name: fn.Name.Name, decl: fn, node: node, body: body, b: b, outer: outer}
			s.benchmarks = append(s.benchmarks, current)
		}
		ast.Inspect(body, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				addNested(lit, lit.Type, lit.Body, current)
				return false
			}
			return true
		})
	}
	first := len(s.benchmarks)
	addNested(fn, fn.Type, fn.Body, nil)
	for _, b := range s.benchmarks[first:] {
		b.readLoops(info)
	}
}

// hasIterationLoop reports whether a function has a loop over b.N, b.Loop or pb.Next. It skips the
// benchmarks inside of the function.
func hasIterationLoop(info *types.Info, body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			_, isBenchmark := paramOf(info, n.Type, "B")
			return !isBenchmark
		case *ast.ForStmt:
			found = found || n.Cond != nil && limitsIterations(info, n.Cond)
		case *ast.RangeStmt:
			found = found || limitsIterations(info, n.X)
		}
		return !found
	})
	return found
}

// limitsIterations reports whether an expression contains b.N, b.Loop or pb.Next.
func limitsIterations(info *types.Info, e ast.Expr) bool {
	for sel := range nodesOf[*ast.SelectorExpr](e) {
		fn, _ := info.Uses[sel.Sel].(*types.Func)
		if isBenchmarkN(info, sel) || isMethodOf(fn, "testing", "B", "Loop") || isMethodOf(fn, "testing", "PB", "Next") {
			return true
		}
	}
	return false
}

// isBenchmarkN reports whether a selector is b.N, maybe of a struct that embeds a testing.B.
func isBenchmarkN(info *types.Info, sel *ast.SelectorExpr) bool {
	if sel.Sel.Name != "N" {
		return false
	}
	if isNamed(info.TypeOf(sel.X), "testing", "B") {
		return true
	}
	s := info.Selections[sel]
	return s != nil && len(s.Index()) > 1 && s.Obj().Pkg() != nil && s.Obj().Pkg().Path() == "testing"
}

// paramOf returns the parameter of type testing.NAME or *testing.NAME. The parameter is nil if it
// has no name. ok is false if there is none of this type.
func paramOf(info *types.Info, t *ast.FuncType, name string) (v *types.Var, ok bool) {
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

// readLoops finds the loops of a benchmark. It skips the benchmarks in it.
func (b *benchmark) readLoops(info *types.Info) {
	b.readSizedByN(info)
	inspectPath(b.body, func(n ast.Node, path []ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			_, isBenchmark := paramOf(info, lit.Type, "B")
			return !isBenchmark
		}
		stmt, ok := n.(ast.Stmt)
		if !ok {
			return true
		}
		l := &loop{owner: b, node: stmt}
		var end ast.Expr // determines the number of iterations
		switch stmt := stmt.(type) {
		case *ast.ForStmt:
			l.body, end = stmt.Body, stmt.Cond
			// A loop may count down: for i := b.N; i > 0; i--.
			if init, ok := stmt.Init.(*ast.AssignStmt); ok && len(init.Rhs) == 1 && end != nil && b.dependsOnN(info, init.Rhs[0]) {
				end = init.Rhs[0]
			}
		case *ast.RangeStmt:
			l.body, end = stmt.Body, stmt.X
		}
		if end == nil || !l.setKind(info, end) {
			return true
		}
		l.path = append([]ast.Node{b.body}, path...)
		l.timed = l.isTimed(info)
		b.loops = append(b.loops, l)
		return true
	})
}

// setKind sets the kind of a loop by the expression that ends it. It returns false if the
// expression depends neither on b nor on pb. The loop is then no loop over iterations.
func (l *loop) setKind(info *types.Info, end ast.Expr) bool {
	if call, ok := end.(*ast.CallExpr); ok {
		fn, _ := typeutil.Callee(info, call).(*types.Func)
		switch {
		case isMethodOf(fn, "testing", "B", "Loop"):
			l.kind = byLoop
			return true
		case isMethodOf(fn, "testing", "PB", "Next"):
			l.kind = byNext
			return true
		}
	}
	return l.owner.dependsOnN(info, end)
}

// dependsOnN reports whether a node contains b.N or a variable of b.sizedByN.
func (b *benchmark) dependsOnN(info *types.Info, root ast.Node) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			found = found || isBenchmarkN(info, n)
		case *ast.Ident:
			found = found || b.sizedByN[info.Uses[n]]
		}
		return !found
	})
	return found
}

// readSizedByN finds the variables that depend on b.N, as n and data do in
//
//	n := 2 * b.N
//	data := make([]int, n)
func (b *benchmark) readSizedByN(info *types.Info) {
	b.sizedByN = map[types.Object]bool{}
	if b.outer != nil {
		maps.Copy(b.sizedByN, b.outer.sizedByN)
	}
	for a := range nodesOf[*ast.AssignStmt](b.body) {
		if a.Tok != token.DEFINE || len(a.Lhs) != len(a.Rhs) {
			continue
		}
		for i, rhs := range a.Rhs {
			if call, ok := rhs.(*ast.CallExpr); ok {
				isConversion := info.Types[call.Fun].IsType()
				if !isMake(info, call) && !isConversion {
					continue // the result of a function may have another size
				}
			}
			if id, ok := a.Lhs[i].(*ast.Ident); ok && b.dependsOnN(info, rhs) && info.Defs[id] != nil {
				b.sizedByN[info.Defs[id]] = true
			}
		}
	}
}

// isTimed reports whether the timer runs when a loop begins, and no ResetTimer follows after the
// loop.
func (l *loop) isTimed(info *types.Info) bool {
	if l.kind == byLoop {
		return true
	}
	for i := 0; i+1 < len(l.path); i++ {
		for _, s := range statementsOf(l.path[i]) {
			if s.Pos() > l.path[i+1].Pos() && timerCall(info, s) == "ResetTimer" {
				return false
			}
		}
	}
	return !l.isStopped(info)
}

// isStopped reports whether the timer is stopped when a loop begins. It reads the calls before the
// loop in the blocks around it.
func (l *loop) isStopped(info *types.Info) bool {
	stopped := false
	for i := 0; i+1 < len(l.path); i++ {
		for _, s := range statementsOf(l.path[i]) {
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

// statementsOf returns the statements of a block or a case, nil for other nodes.
func statementsOf(n ast.Node) []ast.Stmt {
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

// countBenchmarks returns the number of functions and literals in a file with a parameter
// *testing.B.
func countBenchmarks(info *types.Info, file *ast.File) int {
	n := 0
	for t := range nodesOf[*ast.FuncType](file) {
		if t.Params == nil {
			continue
		}
		if _, ok := paramOf(info, t, "B"); ok {
			n++
		}
	}
	return n
}

// findBenchmark returns the innermost benchmark around a node, or nil.
func (s *suite) findBenchmark(node ast.Node) *benchmark {
	var found *benchmark
	for _, b := range s.benchmarks {
		isInner := found == nil || found.node.Pos() < b.node.Pos()
		if isNodeIn(node, b.node) && isInner {
			found = b
		}
	}
	return found
}

// timerCall returns the timer method that a statement calls, or "".
func timerCall(info *types.Info, s ast.Stmt) string {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return ""
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return ""
	}
	fn, _ := typeutil.Callee(info, call).(*types.Func)
	return timerMethod(fn)
}

// timerMethod returns the name of fn if it starts, stops or resets the timer, else "". The method
// may be of testing.B or an interface.
func timerMethod(fn *types.Func) string {
	isTimer := fn != nil && isOneOf(fn.Name(), []string{"StartTimer", "StopTimer", "ResetTimer"})
	if !isTimer || fn.Signature().Recv() == nil {
		return ""
	}
	if recv := fn.Signature().Recv().Type(); isNamed(recv, "testing", "B") || types.IsInterface(recv) {
		return fn.Name()
	}
	return ""
}

// mainLoop returns the last loop of a benchmark, usually the measured one. It is nil without loops.
func (b *benchmark) mainLoop() *loop {
	if len(b.loops) == 0 {
		return nil
	}
	return b.loops[len(b.loops)-1]
}
