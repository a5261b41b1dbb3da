package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file estimates how long the preparation of a benchmark takes, for the rule setup-timed. It
// counts steps, the iterations of the innermost loop. These are 5000 steps:
//
//	for range 100 {
//		for range 50 { work() }
//	}
//
// The length of a loop is often an argument. A binding (type flow.Binding) has the arguments of the
// calls that lead to a function, by parameter: after fill(m, 50), the parameter n of fill is 50.

// Numbers of steps.
const (
	longLoop   = 100_000 // takes a millisecond or more
	shortLoop  = 1_000   // takes some microseconds
	bulkySteps = 10      // of a call such as sort.Ints, at least
	maxSteps   = 1 << 30 // keeps products from overflowing
)

// countSteps returns the steps of a node, at least 1. It assumes that a loop whose length is not
// known has guess steps; with a guess of 1, it counts only what is certain.
func (in *input) countSteps(node ast.Node, guess int64) int64 {
	c := stepCounter{input: in, guess: guess, seen: map[ast.Node]bool{}}
	return c.count(node, nil)
}

// stepCounter counts the steps of a node and of the functions that it calls.
type stepCounter struct {
	*input
	guess int64             // assumed steps of a loop of unknown length
	seen  map[ast.Node]bool // functions that were counted; each counts once
}

// count returns the steps of a node. That is the largest number of a loop or a call in it: of the sum
// of several, the largest is a large part.
func (c *stepCounter) count(node ast.Node, binding flow.Binding) int64 {
	steps := int64(1)
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			iterations := c.guess
			if limit := loopBound(n.(ast.Stmt)); limit != nil {
				if known, ok := c.countElements(limit, binding); ok {
					iterations = known
				}
			}
			inner := c.count(loopBody(n), binding)
			steps = max(steps, min(iterations, maxSteps)*min(inner, maxSteps))
			return false
		case *ast.CallExpr:
			for _, f := range c.flowGraph().Called(n, binding) {
				steps = max(steps, c.countCall(n, f, binding))
			}
		}
		return true
	})
	return steps
}

// countCall returns the steps of a call of f. It guesses those of functions of other packages by their
// names and arguments.
func (c *stepCounter) countCall(call *ast.CallExpr, f flow.Function, binding flow.Binding) int64 {
	switch {
	case isSlow(f.Object):
		return longLoop
	case isBulky(f.Object):
		return max(c.guess, bulkySteps)
	case c.guess > 1 && c.mayMakeMany(f.Object):
		return c.largestArgument(call, binding)
	case f.Body == nil || c.seen[f.Node]:
		return 1
	}
	c.seen[f.Node] = true
	arguments := c.bindVariadic(c.flowGraph().Bind(call, f), call, f)
	return c.count(f.Body, arguments)
}

// loopBound returns the expression that a loop counts up to, or the operand of range. It is nil for
// other loops.
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

// countElements returns the value of a number or the length of a slice, if known.
func (in *input) countElements(e ast.Expr, binding flow.Binding) (int64, bool) {
	return in.countElementsWithin(e, binding, 0)
}

// countElementsWithin is countElements, also for a result of a function of the package. The depth is
// the number of such functions around e.
func (in *input) countElementsWithin(e ast.Expr, binding flow.Binding, depth int) (int64, bool) {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && isBuiltin(in.pass.TypesInfo, call, "len") {
		e = call.Args[0]
	}
	if call := in.findMakingCall(e, binding); call != nil {
		if count, ok := in.countResult(call, binding, depth); ok {
			return count, true
		}
	}
	if count, ok := in.flowGraph().MaxConstant(e, binding); ok {
		return count, true
	}
	for _, source := range in.flowGraph().Sources(e, binding) {
		switch source := source.(type) {
		case *ast.CallExpr:
			if isMake(in.pass.TypesInfo, source) && len(source.Args) > 1 {
				size := source.Args[len(source.Args)-1] // the capacity if there is one, because the length is then mostly 0
				if count, ok := in.flowGraph().MaxConstant(size, binding); ok && count > 0 {
					return count, true
				}
			}
			if fn := in.callee(source); isPermutation(fn) && len(source.Args) == 1 {
				return in.flowGraph().MaxConstant(source.Args[0], binding)
			}
			if count, ok := in.countResult(source, binding, depth); ok {
				return count, true
			}
		case *ast.CompositeLit:
			if len(source.Elts) > 0 { // else elements are added later
				return int64(len(source.Elts)), true
			}
		}
	}
	return 0, false
}

// findMakingCall returns the call that makes the value of e: for a variable its only value, for a
// parameter the argument in binding. After keys := makeKeys(50) it returns that call for keys. It
// returns nil if the value may come from elsewhere.
func (in *input) findMakingCall(e ast.Expr, binding flow.Binding) *ast.CallExpr {
	for range maxTimedDepth {
		switch x := ast.Unparen(e).(type) {
		case *ast.CallExpr:
			return x
		case *ast.SliceExpr:
			e = x.X
		case *ast.Ident:
			v := in.variable(x)
			if arg := binding[v]; v != nil && arg != nil {
				e = arg
				continue
			}
			values := in.flowGraph().Values(v)
			if v == nil || len(values) != 1 || !in.isLocal(v) {
				return nil
			}
			e = values[0]
		default:
			return nil
		}
	}
	return nil
}

// bindVariadic adds the arguments of a variadic parameter to a binding, as a list.
func (in *input) bindVariadic(binding flow.Binding, call *ast.CallExpr, f flow.Function) flow.Binding {
	params := flow.Params(f.Type)
	n := len(params)
	if n == 0 || call.Ellipsis.IsValid() || params[n-1].Name == nil || len(call.Args) < n {
		return binding
	}
	if _, isVariadic := params[n-1].Type.(*ast.Ellipsis); isVariadic {
		if v, ok := in.pass.TypesInfo.Defs[params[n-1].Name].(*types.Var); ok {
			binding[v] = &ast.CompositeLit{Elts: call.Args[n-1:]}
		}
	}
	return binding
}

// countResult returns the length of the slice that a call of a function of the package returns, if
// known: 50 for makeKeys(50), if makeKeys(n) makes n keys.
func (in *input) countResult(call *ast.CallExpr, binding flow.Binding, depth int) (int64, bool) {
	const maxResultDepth = 3
	if depth == maxResultDepth || !isSlice(firstResult(in.pass.TypesInfo.TypeOf(call))) {
		return 0, false
	}
	for _, f := range in.flowGraph().Called(call, binding) {
		inner := maps.Clone(binding)
		if inner == nil {
			inner = flow.Binding{}
		}
		maps.Copy(inner, in.flowGraph().Bind(call, f))
		for _, result := range in.flowGraph().Results(f, 0) {
			if count, ok := in.countElementsWithin(result, inner, depth+1); ok {
				return count, true
			}
		}
	}
	return 0, false
}

// isPermutation reports whether a function is rand.Perm. rand.Perm(n) returns n elements.
func isPermutation(fn *types.Func) bool {
	return fn != nil && fn.Name() == "Perm" && fn.Pkg() != nil && isOneOf(fn.Pkg().Path(), []string{"math/rand", "math/rand/v2"})
}

// mayMakeMany reports whether a function of another module may make as many values as an argument
// says, as in fake.Users(1000). This is a guess by its result: a slice or a string. Functions that
// make one value, such as NewReader, are excluded by their names.
func (in *input) mayMakeMany(fn *types.Func) bool {
	if fn == nil || fn.Pkg() == nil || fn.Pkg() == in.pass.Pkg || fn.Signature().Results().Len() == 0 || makerName.MatchString(fn.Name()) {
		return false
	}
	return !isStandard(fn.Pkg()) && isSliceOrString(fn.Signature().Results().At(0).Type())
}

// largestArgument returns the largest constant argument of a call, at least 1.
func (in *input) largestArgument(call *ast.CallExpr, binding flow.Binding) int64 {
	largest := int64(1)
	for _, arg := range call.Args {
		if n, ok := in.flowGraph().MaxConstant(arg, binding); ok {
			largest = max(largest, min(n, maxSteps))
		}
	}
	return largest
}

// isBulky reports whether a function of the standard library mostly takes some microseconds.
func isBulky(fn *types.Func) bool {
	return isFunc(fn, "regexp", "MustCompile", "Compile") || isFunc(fn, "encoding/json", "Marshal", "MarshalIndent", "Unmarshal") ||
		isFunc(fn, "net/http/httptest", "NewServer", "NewTLSServer") || isFunc(fn, "sort") && fn.Name() != "Search" || isFunc(fn, "slices", "Sort", "SortFunc", "Collect", "Sorted")
}

// isSlow reports whether a function may take milliseconds.
func isSlow(fn *types.Func) bool {
	readsFile := isFunc(fn, "os", "ReadFile") || isFunc(fn, "io/ioutil", "ReadFile")
	runsProgram := isMethodOf(fn, "os/exec", "Cmd", "Run", "Output", "CombinedOutput", "Wait")
	return readsFile || runsProgram || isFunc(fn, "time", "Sleep") || isFunc(fn, "crypto/rsa", "GenerateKey")
}
