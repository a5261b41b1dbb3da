package gobench

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
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
			resetsTimer := in.hasCall(b.body, func(name string) bool { return name == "ResetTimer" || name == "StopTimer" })
			if resetsTimer {
				continue
			}
			if l := in.findPreparation(b, main); l != nil {
				in.report(l.node, "a loop that prepares b.N inputs is timed: nothing resets the timer after it")
				continue
			}
			in.reportSlow(b, main)
		}
	}}
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

// reportSlow reports the loops and calls before the main loop that take a millisecond or
// more. It omits function literals, and if statements that end the benchmark.
func (in *input) reportSlow(b *benchmark, main *loop) {
	for _, s := range b.body.List {
		isBeforeMain := s.End() <= main.node.Pos()
		if !isBeforeMain {
			return
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
				return false
			case *ast.ForStmt, *ast.RangeStmt:
				if count := in.iterations(b, n.(ast.Stmt)); count >= longLoop {
					in.report(n, "a loop of %d iterations that prepares the input is timed: nothing resets the timer after it", count)
					return false
				}
			case *ast.IfStmt:
				return !in.isFailure(n.Body)
			case *ast.CallExpr:
				if isSlow(in.callee(n)) || in.isLargeHelper(n) {
					in.report(n, "%s before the loop is timed: nothing resets the timer after it", formatExpr(n.Fun))
				}
			}
			return true
		})
	}
}

// longLoop is the number of iterations from which a loop takes a millisecond or so.
const longLoop = 100_000

// iterations returns the number of iterations of a loop if it is a constant, else 0.
func (in *input) iterations(b *benchmark, s ast.Stmt) int64 {
	bound := loopBound(s)
	if bound == nil {
		return 0
	}
	count := in.findCount(b, bound)
	if count == nil {
		return 0
	}
	if value := in.pass.TypesInfo.Types[count].Value; value != nil {
		n, _ := constant.Int64Val(constant.ToInt(value))
		return n
	}
	return 0
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

// findCount returns the expression of the number that bound stands for. In for range list with
// list := make([]T, 1000), and in for i := 0; i < len(list); i++, that is 1000. It returns nil if bound
// is a local variable without an initial value.
func (in *input) findCount(b *benchmark, bound ast.Expr) ast.Expr {
	operand := bound
	if call, ok := ast.Unparen(bound).(*ast.CallExpr); ok && isBuiltin(in.pass.TypesInfo, call, "len") {
		operand = call.Args[0]
	}
	value := operand
	if v := in.variable(operand); v != nil && in.isLocal(v) {
		value = in.initOf(b.decl, v)
	}
	if call, ok := value.(*ast.CallExpr); ok && isMake(in.pass.TypesInfo, call) && len(call.Args) > 1 {
		return call.Args[1]
	}
	return value
}

// isLargeHelper reports whether a call passes a constant of at least longLoop to a test
// helper, probably as the number of things to make.
func (in *input) isLargeHelper(call *ast.CallExpr) bool {
	fn := in.callee(call)
	if fn == nil || !in.isTestHelper(fn) {
		return false
	}
	for _, a := range call.Args {
		if value := in.pass.TypesInfo.Types[a].Value; value != nil && value.Kind() == constant.Int {
			if n, exact := constant.Int64Val(value); exact && n >= longLoop {
				return true
			}
		}
	}
	return false
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
