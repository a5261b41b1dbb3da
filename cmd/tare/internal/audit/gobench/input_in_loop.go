package gobench

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// inputInLoop finds inputs that each iteration makes anew although they are the
// same, and hands to what is measured.
func inputInLoop() rule {
	return rule{audit.Rule{
		ID: "input-in-loop", Severity: tare.Warn,
		Title:   "Each iteration makes its input again.",
		Why:     "The time and the allocations of making it are in the figure. The comparison of two functions then shows less than they differ by: (input + a) / (input + b).",
		Do:      "make it once before the loop",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/tinylib/msgp/blob/v1.6.5/msgp/extension_test.go#L187"},
	}, func(in *input) {
		in.timedCalls(func(l *loop, call *ast.CallExpr, fn *types.Func) {
			if !in.makesInput(fn) || in.isAbout(l.owner, fn) && !in.isTestHelper(fn) || !in.isInvariant(l, call) || !in.isHandedOn(l, call) {
				return
			}
			in.report(call, "%s makes the input anew in each iteration", show(call))
		})
		in.timedLoops(func(l *loop) {
			for _, s := range l.body.List {
				if v := in.findFilled(l, s); v != nil {
					in.report(s, "%s is filled anew in each iteration, and then handed on", v.Name())
				}
			}
		})
	}}
}

// makesInput reports whether a function makes inputs: one of the standard library
// that takes time, or a function of the tests that is named so.
func (in *input) makesInput(fn *types.Func) bool {
	switch {
	case isFunc(fn, "strings", "Repeat"), isFunc(fn, "bytes", "Repeat"), isFunc(fn, "regexp", "MustCompile", "Compile"), isFunc(fn, "os", "ReadFile"), isFunc(fn, "io/ioutil", "ReadFile"),
		isFunc(fn, "crypto/rsa", "GenerateKey"), isFunc(fn, "crypto/ecdsa", "GenerateKey"), isFunc(fn, "time", "LoadLocation"), isFunc(fn, "math/rand", "Perm"):
		return true
	}
	return in.isTestHelper(fn) && generators.MatchString(fn.Name()) && fn.Signature().Results().Len() > 0
}

// findFilled returns the slice if a statement of a loop's body is a loop that sets the
// elements of one that the body made, and only a call after it uses that. It
// returns nil otherwise.
func (in *input) findFilled(l *loop, s ast.Stmt) *types.Var {
	var body *ast.BlockStmt
	switch s := s.(type) {
	case *ast.ForStmt:
		body = s.Body
	case *ast.RangeStmt:
		body = s.Body
	default:
		return nil
	}
	if len(body.List) != 1 {
		return nil
	}
	a, ok := body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 {
		return nil
	}
	index, ok := a.Lhs[0].(*ast.IndexExpr)
	if !ok {
		return nil
	}
	v := in.variable(index.X)
	if v == nil || in.isOutside(v, l) {
		return nil
	}
	init, ok := in.initOf(l.body, v).(*ast.CallExpr)
	if !ok || !isMake(in.pass.TypesInfo, init) {
		return nil
	}
	handed := false
	in.uses(l.body, v, func(id *ast.Ident, path []ast.Node) {
		for _, p := range path {
			call, ok := p.(*ast.CallExpr)
			handed = handed || ok && id.Pos() > s.End() && in.callee(call) != nil
		}
	})
	if !handed {
		return nil
	}
	return v
}

// generators are names of functions that make inputs.
var generators = regexp.MustCompile(`^(?i:generate|gen|random|fake|mock|make(test|input|data|random|payload|big|large)|new(test|random|fake|sample)|create(test|sample|random|large|big)|build(test|sample|input|payload|large)|sample|fixture|load(fixture|testdata|sample))([A-Z0-9_]|[a-z]*$)`)

// isTestHelper reports whether a function is one of a test file of the package.
func (in *input) isTestHelper(fn *types.Func) bool {
	return fn.Pkg() == in.pass.Pkg && fn.Signature().Recv() == nil && strings.HasSuffix(in.pass.Fset.Position(fn.Pos()).Filename, "_test.go")
}

// isInvariant reports whether a call has the same arguments in each iteration: they
// name nothing that the loop declares or sets.
func (in *input) isInvariant(l *loop, call *ast.CallExpr) bool {
	invariant := true
	for _, a := range call.Args {
		ast.Inspect(a, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr, *ast.FuncLit:
				if call, ok := n.(*ast.CallExpr); !ok || !in.pass.TypesInfo.Types[call.Fun].IsType() && !isBuiltin(in.pass.TypesInfo, call, "len") {
					invariant = false
				}
			case *ast.Ident:
				v, ok := in.pass.TypesInfo.Uses[n].(*types.Var)
				if !ok || v.IsField() {
					return true
				}
				invariant = invariant && in.isOutside(v, l) && !in.isSet(l, v) && !isNamed(v.Type(), "math/rand", "Rand") && !isNamed(v.Type(), "math/rand/v2", "Rand")
			}
			return invariant
		})
	}
	return invariant
}

// isSet reports whether a loop assigns to a variable or counts it.
func (in *input) isSet(l *loop, v *types.Var) bool {
	set := false
	in.uses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.AssignStmt:
			for _, lhs := range p.Lhs {
				set = set || lhs == ast.Expr(id)
			}
		case *ast.IncDecStmt, *ast.UnaryExpr:
			set = true
		}
	})
	return set
}

// isHandedOn reports whether the result of a call is an argument or receiver of
// another call of the loop, that is not a conversion and not one of the tests,
// either itself or by a variable that the loop declares and does not change.
func (in *input) isHandedOn(l *loop, call *ast.CallExpr) bool {
	handed := false
	measured := func(outer ast.Node) bool {
		c, ok := outer.(*ast.CallExpr)
		if !ok || c == call {
			return false
		}
		fn := in.callee(c)
		return fn != nil && !in.isTestHelper(fn)
	}
	inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
		if n != ast.Node(call) {
			return true
		}
		switch p := parent(path, 1).(type) {
		case *ast.CallExpr:
			handed = measured(p)
		case *ast.SelectorExpr:
			handed = measured(parent(path, 2))
		case *ast.AssignStmt:
			v := in.variable(p.Lhs[0])
			if v == nil || in.isOutside(v, l) {
				return false
			}
			changed := false
			in.uses(l.body, v, func(id *ast.Ident, path []ast.Node) {
				switch q := parent(path, 1).(type) {
				case *ast.CallExpr:
					handed = handed || measured(q)
				case *ast.SelectorExpr:
					handed = handed || measured(parent(path, 2))
				case *ast.AssignStmt:
					changed = true
				}
			})
			handed = handed && !changed
		}
		return false
	})
	return handed
}
