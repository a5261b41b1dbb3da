package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// setupTimed finds preparation that grows with b.N, or is known to be slow, before
// the loop of a benchmark whose timer is not reset.
func setupTimed() rule {
	return rule{audit.Rule{
		ID: "setup-timed", Severity: tare.Warn,
		Title:   "Preparation before the loop is timed.",
		Why:     "The timer runs from the beginning of the function. Preparation that is repeated b.N times is fully in every figure, and slow preparation is in those with a small b.N: the more time an operation takes, the more of it.",
		Do:      "call b.ResetTimer before the loop, or write for b.Loop(), which does",
		Command: compareRevisions,
		Seen:    []string{"https://pkg.go.dev/testing#B.ResetTimer"},
	}, func(in *input) {
		for _, b := range in.suite.benchmarks {
			main := in.mainLoop(b)
			if main == nil || main.kind == byLoop || !main.timed || in.calls(b.body, func(name string) bool { return name == "ResetTimer" || name == "StopTimer" }) {
				continue
			}
			if l := in.fillingLoop(b, main); l != nil {
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

// fillingLoop returns a loop over b.N that comes before the main one and sets
// elements of a slice or map that the main loop reads. It returns nil if there is
// none.
func (in *input) fillingLoop(b *benchmark, main *loop) *loop {
	for _, l := range b.loops {
		if l == main || len(l.path) != len(main.path) || l.path[len(l.path)-2] != main.path[len(main.path)-2] {
			continue
		}
		fills := false
		ast.Inspect(l.body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for _, lhs := range a.Lhs {
				index, ok := lhs.(*ast.IndexExpr)
				target := lhs
				if ok {
					target = index.X
				} else if call, isCall := a.Rhs[0].(*ast.CallExpr); !isCall || !isBuiltin(in.pass.TypesInfo, call, "append") {
					continue
				}
				v := in.variable(target)
				if v != nil && in.isOutside(v, l) && in.usedIn(main, v) {
					fills = true
				}
			}
			return true
		})
		if fills {
			return l
		}
	}
	return nil
}

// reportSlow reports calls before the main loop that take milliseconds or more.
func (in *input) reportSlow(b *benchmark, main *loop) {
	for _, s := range b.body.List {
		if s.End() > main.node.Pos() {
			return
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
				return false
			case *ast.IfStmt:
				return !in.isFailure(n.Body)
			case *ast.CallExpr:
				if isSlow(in.callee(n)) {
					in.report(n, "%s before the loop is timed: nothing resets the timer after it", show(n.Fun))
				}
			}
			return true
		})
	}
}

// isSlow reports whether a function takes milliseconds or more.
func isSlow(fn *types.Func) bool {
	switch {
	case isFunc(fn, "time", "Sleep"), isFunc(fn, "crypto/rsa", "GenerateKey"):
		return true
	case fn == nil || fn.Signature().Recv() == nil:
		return false
	}
	recv := fn.Signature().Recv().Type()
	return isNamed(recv, "os/exec", "Cmd") && hasName(fn.Name(), []string{"Run", "Output", "CombinedOutput", "Wait"})
}
