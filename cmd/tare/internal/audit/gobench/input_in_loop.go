package gobench

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// inputInLoop finds inputs that each iteration makes again although they are always the
// same, and passes to the measured function.
func inputInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "input-in-loop", Severity: tare.Warn,
		Title:   "Each iteration makes its input again.",
		Why:     "The time and the allocations of making it are in the figure. The comparison of two functions then shows less than they differ by: (input + a) / (input + b).",
		Do:      "make it once before the loop",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/tinylib/msgp/blob/v1.6.5/msgp/extension_test.go#L187"},
	}, find: func(in *input) {
		in.eachTimedCall(func(l *loop, call *ast.CallExpr, fn *types.Func) {
			isMeasured := in.isAbout(l.owner, fn) && !in.isTestHelper(fn)
			if in.makesInput(fn) && !isMeasured && in.isInvariant(l, call) && in.isPassedOn(l, call) {
				in.report(call, "%s makes the same input again in each iteration", formatExpr(call))
			}
		})
		in.eachTimedLoop(func(l *loop) {
			for _, s := range l.body.List {
				if v := in.findFilledSlice(l, s); v != nil {
					in.report(s, "%s is filled again in each iteration, and then passed to a call", v.Name())
				}
			}
		})
	}}
}

// makesInput reports whether a function makes inputs: a slow one of the standard library,
// or a function of the test files with a name such as generateItems.
func (in *input) makesInput(fn *types.Func) bool {
	switch {
	case isFunc(fn, "strings", "Repeat"), isFunc(fn, "bytes", "Repeat"),
		isFunc(fn, "regexp", "MustCompile", "Compile"),
		isFunc(fn, "os", "ReadFile"), isFunc(fn, "io/ioutil", "ReadFile"),
		isFunc(fn, "crypto/rsa", "GenerateKey"), isFunc(fn, "crypto/ecdsa", "GenerateKey"),
		isFunc(fn, "time", "LoadLocation"), isFunc(fn, "math/rand", "Perm"):
		return true
	}
	return in.isTestHelper(fn) && generators.MatchString(fn.Name()) && fn.Signature().Results().Len() > 0
}

// findFilledSlice returns the slice that a statement s of a loop's body fills: s is an inner
// loop whose only statement sets an element of a slice, the body makes the slice by make,
// and a call after s gets the slice. It returns nil for other statements.
func (in *input) findFilledSlice(l *loop, s ast.Stmt) *types.Var {
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
	isPassedOn := false
	in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
		for _, p := range path {
			call, isCall := p.(*ast.CallExpr)
			if isCall && id.Pos() > s.End() && in.callee(call) != nil {
				isPassedOn = true
			}
		}
	})
	if !isPassedOn {
		return nil
	}
	return v
}

// generators matches the names of functions that make inputs.
var generators = lazyregexp.New(`^(?i:generate|gen|random|fake|mock|make(test|input|data|random|payload|big|large)|new(test|random|fake|sample)|create(test|sample|random|large|big)|build(test|sample|input|payload|large)|sample|fixture|load(fixture|testdata|sample))([A-Z0-9_]|[a-z]*$)`)

// isTestHelper reports whether a function, not a method, is declared in a test file of the package.
func (in *input) isTestHelper(fn *types.Func) bool {
	return fn.Pkg() == in.pass.Pkg && fn.Signature().Recv() == nil && strings.HasSuffix(in.pass.Fset.Position(fn.Pos()).Filename, "_test.go")
}

// isInvariant reports whether a call has the same arguments in each iteration: they
// contain no variable that the loop declares or sets, no random source, and no call
// other than conversions and len.
func (in *input) isInvariant(l *loop, call *ast.CallExpr) bool {
	info := in.pass.TypesInfo
	isInvariant := true
	for _, a := range call.Args {
		ast.Inspect(a, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				isInvariant = false
			case *ast.CallExpr:
				isConversion := info.Types[n.Fun].IsType()
				if !isConversion && !isBuiltin(info, n, "len") {
					isInvariant = false
				}
			case *ast.Ident:
				v, ok := info.Uses[n].(*types.Var)
				if !ok || v.IsField() {
					return true
				}
				if !in.isOutside(v, l) || in.isSet(l, v) || isRand(v.Type()) {
					isInvariant = false
				}
			}
			return isInvariant
		})
	}
	return isInvariant
}

// isSet reports whether a loop may set a variable: it assigns to it, counts it or takes
// its address.
func (in *input) isSet(l *loop, v *types.Var) bool {
	found := false
	in.inspectUses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.AssignStmt:
			for _, lhs := range p.Lhs {
				found = found || lhs == ast.Expr(id)
			}
		case *ast.IncDecStmt, *ast.UnaryExpr:
			found = true
		}
	})
	return found
}

// isPassedOn reports whether the result of a call is an argument or the receiver of a
// measured call in the loop, directly or by a variable that the loop declares and does
// not change. Calls of unknown functions and of test helpers are not measured.
func (in *input) isPassedOn(l *loop, call *ast.CallExpr) bool {
	isMeasured := func(outer ast.Node) bool {
		c, ok := outer.(*ast.CallExpr)
		if !ok || c == call {
			return false
		}
		fn := in.callee(c)
		return fn != nil && !in.isTestHelper(fn)
	}
	found := false
	inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
		if n != ast.Node(call) {
			return true
		}
		switch p := parent(path, 1).(type) {
		case *ast.CallExpr:
			found = isMeasured(p)
		case *ast.SelectorExpr: // the result is the receiver
			found = isMeasured(parent(path, 2))
		case *ast.AssignStmt:
			v := in.variable(p.Lhs[0])
			if v == nil || in.isOutside(v, l) {
				return false
			}
			isChanged := false
			in.inspectUses(l.body, v, func(_ *ast.Ident, path []ast.Node) {
				switch q := parent(path, 1).(type) {
				case *ast.CallExpr:
					found = found || isMeasured(q)
				case *ast.SelectorExpr:
					found = found || isMeasured(parent(path, 2))
				case *ast.AssignStmt:
					isChanged = true
				}
			})
			found = found && !isChanged
		}
		return false
	})
	return found
}
