package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// setupTimed finds preparation that grows with b.N, or is known to be slow, before
// the loop of a benchmark whose timer is not reset.
func setupTimed() rule {
	return rule{Rule: audit.Rule{
		ID: "setup-timed", Severity: tare.Warn,
		Title:   "Preparation before the loop is timed.",
		Why:     "The timer runs from the beginning of the function. Preparation that is repeated b.N times is fully in every figure, and slow preparation is in those with a small b.N: the more time an operation takes, the more of it.",
		Do:      "call b.ResetTimer before the loop, or write for b.Loop(), which does",
		Command: compareRevisions,
		Seen:    []string{"https://pkg.go.dev/testing#B.ResetTimer"},
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			main := in.mainLoop(b)
			if main == nil || main.kind == byLoop || !main.timed {
				continue
			}
			prepared, isReset := in.findUntimed(main)
			if !isReset {
				if l := in.findPreparation(b, main); l != nil && !in.hasCall(b.body, func(name string) bool { return name == "StopTimer" }) {
					in.report(l.node, "a loop that prepares b.N inputs is timed: nothing resets the timer after it")
					continue
				}
			}
			in.reportSlow(b, prepared, isReset)
		}
	}}
}

// findUntimed returns the statements that run before a loop and after the last call that resets or
// starts the timer, and whether there is such a call.
func (in *input) findUntimed(l *loop) (prepared []ast.Stmt, isReset bool) {
	running := true
	for i := 0; i+1 < len(l.path); i++ {
		if _, ok := l.path[i].(*ast.FuncLit); ok && l.kind == byNext {
			break // what each goroutine prepares for itself
		}
		for _, s := range statementsOf(l.path[i]) {
			if s.End() > l.path[i+1].Pos() {
				break
			}
			switch {
			case in.hasTimerCall(s, "ResetTimer"), in.hasTimerCall(s, "StartTimer"):
				prepared, isReset, running = nil, true, true
			case in.hasTimerCall(s, "StopTimer"):
				running = false
			case running:
				prepared = append(prepared, s)
			}
		}
	}
	return prepared, isReset
}

// hasTimerCall reports whether a statement calls a method of the timer, also in the functions of
// the benchmark that it calls.
func (in *input) hasTimerCall(s ast.Stmt, name string) bool {
	found := false
	w := &timedWalk{in: in, follow: true, visit: func(n ast.Node, f *frame) bool { return true }}
	w.onTimer = func(method string) { found = found || method == name }
	w.visitStatements([]ast.Stmt{s}, true, &frame{})
	return found
}

// mainLoop returns the last loop of a benchmark, nil if it has none.
func (in *input) mainLoop(b *benchmark) *loop {
	if len(b.loops) == 0 {
		return nil
	}
	return b.loops[len(b.loops)-1]
}

// findPreparation returns a loop over b.N in the same block as the main loop that appends to a slice or
// sets elements of a slice or map that the main loop uses. It returns nil without such a loop.
func (in *input) findPreparation(b *benchmark, main *loop) *loop {
	for _, l := range b.loops {
		if l == main || l.block() != main.block() {
			continue
		}
		for a := range nodesOf[*ast.AssignStmt](l.body) {
			for _, lhs := range a.Lhs {
				target := lhs
				if index, isIndex := lhs.(*ast.IndexExpr); isIndex {
					target = index.X
				} else if call, isCall := a.Rhs[0].(*ast.CallExpr); !isCall || !isBuiltin(in.pass.TypesInfo, call, "append") {
					continue
				}
				if v := in.variable(target); in.isOutside(v, l) && in.usesVariable(main, v) {
					return l
				}
			}
		}
	}
	return nil
}

// reportSlow reports the loops and calls in statements before a loop that take a millisecond or more.
// If the timer was reset before these statements, it reports what takes some microseconds,
// and loops of unknown length. It omits function literals, and if statements that end the benchmark.
func (in *input) reportSlow(b *benchmark, statements []ast.Stmt, isReset bool) {
	unknown, limit, which := int64(1), int64(longLoop), "nothing resets the timer after it"
	if isReset {
		unknown, limit, which = shortLoop, shortLoop, "it runs after the timer was reset"
	}
	for _, s := range statements {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
				return false
			case *ast.ForStmt, *ast.RangeStmt:
				if slices.ContainsFunc(b.loops, func(l *loop) bool { return l.node == n }) {
					return false // its iterations are measured, too
				}
				switch steps := in.countSteps(n, nil, unknown, map[ast.Node]bool{}); {
				case steps < limit:
				case isReset:
					in.report(n, "a loop that prepares the input is timed: %s", which)
				default:
					in.report(n, "a loop of %d iterations that prepares the input is timed: %s", steps, which)
				}
				return false
			case *ast.IfStmt:
				if in.isFailure(n.Body) {
					for _, part := range []ast.Node{n.Init, n.Cond} {
						if call := in.findSlowCall(part, unknown, limit); call != nil {
							in.report(call, "%s before the loop is timed: %s", formatExpr(call.Fun), which)
						}
					}
				}
				return false // the body may run once in all rounds: if data == nil { data = read() }
			case *ast.CallExpr:
				if call := in.findSlowCall(n, unknown, limit); call != nil {
					in.report(call, "%s before the loop is timed: %s", formatExpr(call.Fun), which)
					return false
				}
			}
			return true
		})
	}
}

// findSlowCall returns the first call in a part of a statement that takes limit steps or more, nil
// if there is none or the part is nil.
func (in *input) findSlowCall(part ast.Node, unknown, limit int64) *ast.CallExpr {
	if s, isStmt := part.(ast.Stmt); part == nil || isStmt && s == nil {
		return nil
	}
	var found *ast.CallExpr
	ast.Inspect(part, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && found == nil && in.countSteps(call, nil, unknown, map[ast.Node]bool{}) >= limit {
			found = call
		}
		_, isLiteral := n.(*ast.FuncLit)
		return found == nil && !isLiteral
	})
	return found
}

// Numbers of iterations of a loop that takes a millisecond, and some microseconds.
const (
	longLoop  = 100_000
	shortLoop = 1_000
	maxSteps  = 1 << 30 // of a loop, against overflow
)

// countSteps returns how often the innermost loop of a node runs, as far as the bounds of loops are
// constants: other loops count as unknown. It reads the functions of the package that the node calls.
// A call that may take milliseconds counts as a long loop.
func (in *input) countSteps(node ast.Node, bound flow.Binding, unknown int64, seen map[ast.Node]bool) int64 {
	most := int64(1)
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			count, body := unknown, (*ast.BlockStmt)(nil)
			if limit := loopBound(n.(ast.Stmt)); limit != nil {
				if c, ok := in.countElements(limit, bound); ok {
					count = c
				}
			}
			switch n := n.(type) {
			case *ast.ForStmt:
				body = n.Body
			case *ast.RangeStmt:
				body = n.Body
			}
			inner := in.countSteps(body, bound, unknown, seen)
			most = max(most, min(count, maxSteps)*min(inner, maxSteps))
			return false
		case *ast.CallExpr:
			for _, f := range in.flowGraph().Called(n, bound) {
				switch {
				case isSlow(f.Object):
					most = max(most, longLoop)
				case isBulky(f.Object):
					most = max(most, unknown)
				case f.Body != nil && !seen[f.Node]:
					seen[f.Node] = true
					most = max(most, in.countSteps(f.Body, in.flowGraph().Bind(n, f), unknown, seen))
				}
			}
		}
		return true
	})
	return most
}

// countElements returns the number that an expression is, or the number of elements of a slice,
// and false if that is unknown.
func (in *input) countElements(e ast.Expr, bound flow.Binding) (int64, bool) {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && isBuiltin(in.pass.TypesInfo, call, "len") {
		e = call.Args[0]
	}
	if count, ok := in.flowGraph().MaxConstant(e, bound); ok {
		return count, true
	}
	for _, source := range in.flowGraph().Sources(e, bound) {
		switch source := source.(type) {
		case *ast.CallExpr:
			if isMake(in.pass.TypesInfo, source) && len(source.Args) > 1 {
				return in.flowGraph().MaxConstant(source.Args[1], bound)
			}
			if fn := in.callee(source); isPermutation(fn) && len(source.Args) == 1 {
				return in.flowGraph().MaxConstant(source.Args[0], bound)
			}
		case *ast.CompositeLit:
			return int64(len(source.Elts)), true
		}
	}
	return 0, false
}

// isPermutation reports whether a function returns a random order of as many numbers as its argument.
func isPermutation(fn *types.Func) bool {
	return fn != nil && fn.Name() == "Perm" && fn.Pkg() != nil && isOneOf(fn.Pkg().Path(), []string{"math/rand", "math/rand/v2"})
}

// loopBound returns the expression that a loop counts up to, or the operand of range. It returns nil
// for other loops.
func loopBound(s ast.Stmt) ast.Expr {
	switch s := s.(type) {
	case *ast.ForStmt:
		_, isCounted := s.Post.(*ast.IncDecStmt)
		cond, ok := s.Cond.(*ast.BinaryExpr)
		if ok && isCounted && (cond.Op == token.LSS || cond.Op == token.LEQ) {
			return cond.Y
		}
	case *ast.RangeStmt:
		return s.X
	}
	return nil
}

// isBulky reports whether a function of the standard library takes microseconds or more for most inputs.
func isBulky(fn *types.Func) bool {
	return isFunc(fn, "regexp", "MustCompile", "Compile") || isFunc(fn, "encoding/json", "Marshal", "MarshalIndent", "Unmarshal") ||
		isFunc(fn, "net/http/httptest", "NewServer", "NewTLSServer") || isFunc(fn, "sort") && fn.Name() != "Search" || isFunc(fn, "slices", "Sort", "SortFunc", "Collect", "Sorted")
}

// isSlow reports whether a function may take milliseconds: it sleeps, makes an RSA key,
// reads a file or runs a program.
func isSlow(fn *types.Func) bool {
	if isFunc(fn, "time", "Sleep") || isFunc(fn, "crypto/rsa", "GenerateKey") || isFunc(fn, "os", "ReadFile") || isFunc(fn, "io/ioutil", "ReadFile") {
		return true
	}
	if fn == nil || fn.Signature().Recv() == nil {
		return false
	}
	recv := fn.Signature().Recv().Type()
	return isNamed(recv, "os/exec", "Cmd") && isOneOf(fn.Name(), []string{"Run", "Output", "CombinedOutput", "Wait"})
}
