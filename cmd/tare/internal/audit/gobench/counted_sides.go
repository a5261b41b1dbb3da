package gobench

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule unlike-work, which finds comparisons whose sides do different
// work. Here one side makes all results and takes their number, but another only counts:
//
//	{"regexp", func(s string) int { return len(wordRE.FindAllString(s, -1)) }},
//	{"table", countWords},
//
// A side is one of the things compared: a sub-benchmark, or a function in a table as above. The
// rule judges sides by the names and results of the functions that they call.

var (
	countingName = lazyregexp.New(`^(Count|count|Num|num)|Count$|RuneCount`)
	// declaredCountName matches sides that are meant to count, or to make a slice.
	declaredCountName = lazyregexp.New(`(?i)count|num|alloc|slice|collect|build|iter|len|lazy|stream|all|mater|append`)
)

// reportCounted reports sides that make all results and take their number, if another side only
// counts. It reports nothing if a side is meant to do so by its name.
func (in *input) reportCounted(sides []side) {
	var building []side
	counts := false
	for _, s := range sides {
		switch {
		case declaredCountName.MatchString(s.name) || isLoop(s.node) && isNamedAfterCall(s):
			return
		case s.body != nil && in.takesLength(s.body) && in.hasIntResult(s):
			building = append(building, s)
		case in.onlyCounts(s):
			counts = true
		}
	}
	if !counts {
		return
	}
	for _, s := range building {
		in.report(s.node, "this side of the comparison makes all results and takes their number, but another side only counts them")
	}
}

// isNamedAfterCall reports whether a side is named after a function that it calls. Such sides are
// no comparison.
func isNamedAfterCall(s side) bool {
	return hasCall(s.body, func(name string) bool { return name != "" && containsWord(s.name, name) })
}

// reportUnstarted reports sides that only make a value. A method of it, such as Bytes, would do the
// work. Another side has to work on values:
//
//	func packWire(r *Record) int { return wire.NewMessage(r).Len() }
func (in *input) reportUnstarted(sides []side) {
	isWorker := func(call *ast.CallExpr) bool {
		name := calledName(call)
		return workerName.MatchString(name) || strings.HasPrefix(name, "Append")
	}
	if !slices.ContainsFunc(sides, func(s side) bool { return hasNode(s.body, isWorker) }) {
		return
	}
	for _, s := range sides {
		if in.isTestCode(s.node) && !isDeclaredLess(s.name) && in.onlyStarts(s.body) {
			in.report(s.node, "this side of the comparison only makes a value, but another side also works on it")
		}
	}
}

// onlyStarts reports whether all calls below root make values or return their size. One of the
// values must have a method that does the work (see finisherName), which is not called.
func (in *input) onlyStarts(root ast.Node) bool {
	starts, works := false, false
	for call := range nodesOf[*ast.CallExpr](root) {
		if t := in.pass.TypesInfo.Types[call.Fun]; t.IsType() || t.IsBuiltin() {
			continue
		}
		name := calledName(call)
		if isOneOf(name, []string{"Len", "Cap", "Size"}) {
			continue
		}
		works = works || !makerName.MatchString(name) || in.isCallOfValue(call)
		if made := firstResult(in.pass.TypesInfo.TypeOf(call)); made != nil {
			starts = starts || in.hasFinisher(made) && !in.makesByLoop(call)
		}
	}
	return starts && !works && !hasNode(root, isLoop)
}

// hasFinisher reports whether a type has a method that makes a result, such as Bytes.
func (in *input) hasFinisher(t types.Type) bool {
	methods := types.NewMethodSet(t)
	for i := range methods.Len() {
		if finisherName.MatchString(methods.At(i).Obj().Name()) {
			return true
		}
	}
	return false
}

// makesByLoop reports whether a call may do the work itself, in a loop.
func (in *input) makesByLoop(call *ast.CallExpr) bool {
	fn := in.callee(call)
	if fn == nil {
		return false
	}
	f := in.flowGraph().Declared(fn)
	return f.Body != nil && hasNode(f.Body, isLoop)
}

// hasIntResult reports whether a side is a loop or returns one integer.
func (in *input) hasIntResult(s side) bool {
	if s.function == nil {
		return true
	}
	results := s.function.Results
	return results != nil && results.NumFields() == 1 && isNonStringBasic(in.pass.TypesInfo.TypeOf(results.List[0].Type))
}

// takesLength reports whether a body calls a function only for the length of its slice or map.
func (in *input) takesLength(body ast.Node) bool {
	return hasNode(body, func(call *ast.CallExpr) bool {
		if !isBuiltin(in.pass.TypesInfo, call, "len") {
			return false
		}
		arg := ast.Unparen(call.Args[0])
		if v := in.variable(arg); v != nil && in.isLocal(v) && isPosIn(v.Pos(), body) {
			uses := 0
			in.inspectUses(body, v, func(*ast.Ident, []ast.Node) { uses++ })
			if uses == 1 {
				arg = in.initOf(body, v)
			}
		}
		made, ok := arg.(*ast.CallExpr)
		return ok && in.makesResults(made)
	})
}

// makesResults reports whether a call returns a map or a slice, but not of bytes.
func (in *input) makesResults(call *ast.CallExpr) bool {
	if in.pass.TypesInfo.Types[call.Fun].IsType() || in.pass.TypesInfo.Types[call.Fun].IsBuiltin() {
		return false
	}
	t := firstResult(in.pass.TypesInfo.TypeOf(call))
	return isMap(t) || isSlice(t) && !isBytes(t)
}

// onlyCounts reports whether a side returns an integer and makes no results. By its name it counts,
// or it calls such a function, or increments a number in a loop.
func (in *input) onlyCounts(s side) bool {
	if s.object != nil && countingName.MatchString(s.object.Name()) {
		return true
	}
	if s.body == nil || !in.hasIntResult(s) || hasNode(s.body, func(call *ast.CallExpr) bool {
		return in.makesResults(call) || isBuiltin(in.pass.TypesInfo, call, "append") || isMake(in.pass.TypesInfo, call)
	}) {
		return false
	}
	isCount := func(call *ast.CallExpr) bool {
		return countingName.MatchString(calledName(call)) && isNonStringBasic(in.pass.TypesInfo.TypeOf(call))
	}
	if hasNode(s.body, isCount) {
		return true
	}
	return s.function != nil && hasNode(s.body, func(n ast.Stmt) bool {
		body := loopBody(n)
		return body != nil && hasNode(body, func(inc *ast.IncDecStmt) bool {
			v := in.variable(inc.X)
			isResult := func(r *ast.ReturnStmt) bool { return len(r.Results) == 1 && in.variable(r.Results[0]) == v }
			return v != nil && hasNode(s.body, isResult)
		})
	})
}

// countedSides returns the functions that a call of a variable may run. Those of other packages
// have no body. The node of a declared function is the call.
func (in *input) countedSides(call *ast.CallExpr) []side {
	if in.callee(call) != nil {
		return nil
	}
	var sides []side
	for _, f := range in.flowGraph().Called(call, nil) {
		s := side{node: call, body: f.Body, function: f.Type, object: f.Object}
		if lit, ok := f.Node.(*ast.FuncLit); ok {
			_, s.name = in.findCase(lit)
			s.node = lit
		}
		sides = append(sides, s)
	}
	return sides
}
