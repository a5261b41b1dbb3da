package gobench

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file has two parts of the rule unlike-work, which finds comparisons whose sides do different
// work. A side is one of the things compared: a sub-benchmark, or a function in a table. In the
// first part, one side builds a list of all results only to take its length, but another counts:
//
//	{"regexp", func(s string) int { return len(wordRE.FindAllString(s, -1)) }},
//	{"table", countWords},
//
// In the second part, one side only makes the value that another side also works on. Both parts
// judge a side by the names and the results of the functions that it calls. The file
// making_sides.go has the names of functions that make a value (makerName), work on it
// (workerName), or make its result (finisherName).

var (
	// countingName matches functions that count, such as CountWords and RuneCount.
	countingName = lazyregexp.New(`^(Count|count|Num|num)|Count$|RuneCount`)
	// namedDifference matches names of sides that say how they differ: "iterator" and "slice",
	// or "lazy" and "all". Their author wants to compare different work.
	namedDifference = lazyregexp.New(`(?i)count|num|alloc|slice|collect|build|iter|len|lazy|stream|all|mater|append`)
)

// reportCounted reports sides that build a list only to take its length, if another side counts. It
// reports nothing if the name of a side says that the work differs.
func (in *input) reportCounted(sides []side) {
	var building []side
	anotherCounts := false
	for _, s := range sides {
		switch {
		case namedDifference.MatchString(s.name): // different work on purpose
			return
		case isLoop(s.node) && isNamedAfterCall(s): // sub-benchmarks of different functions
			return
		case s.body != nil && in.takesLength(s.body) && in.hasIntResult(s):
			building = append(building, s)
		case in.onlyCounts(s):
			anotherCounts = true
		}
	}
	if !anotherCounts {
		return
	}
	for _, s := range building {
		in.report(s.node, "this side of the comparison makes all results and takes their number, but another side only counts them")
	}
}

// isNamedAfterCall reports whether a side has the name of a function that it calls. Then each side
// measures a function of its own, and they are not ways to do the same.
func isNamedAfterCall(s side) bool {
	return hasCall(s.body, func(name string) bool { return name != "" && containsWord(s.name, name) })
}

// reportUnstarted reports sides that only make a value, if another side does the work. For example,
// packWire makes a message, but only its method Bytes would encode the record:
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

// onlyStarts reports whether the code at root only makes values, and may ask for their size. At
// least one of the values must have a method that does the work, such as Bytes (see finisherName).
func (in *input) onlyStarts(root ast.Node) bool {
	if hasNode(root, isLoop) {
		return false
	}
	makesUnfinished := false
	for call := range nodesOf[*ast.CallExpr](root) {
		if t := in.pass.TypesInfo.Types[call.Fun]; t.IsType() || t.IsBuiltin() {
			continue
		}
		name := calledName(call)
		if isOneOf(name, []string{"Len", "Cap", "Size"}) {
			continue
		}
		if !makerName.MatchString(name) || in.isCallOfValue(call) { // this call may do the work
			return false
		}
		if made := firstResult(in.pass.TypesInfo.TypeOf(call)); made != nil && in.hasFinisher(made) && !in.makesByLoop(call) {
			makesUnfinished = true
		}
	}
	return makesUnfinished
}

// hasFinisher reports whether a type has a method that does the work and returns its result, such
// as Bytes.
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

// hasIntResult reports whether a side can return a count: it is a function with one number as
// result, or a loop, which returns nothing.
func (in *input) hasIntResult(s side) bool {
	if s.function == nil {
		return true
	}
	results := s.function.Results
	return results != nil && results.NumFields() == 1 && isNonStringBasic(in.pass.TypesInfo.TypeOf(results.List[0].Type))
}

// takesLength reports whether a body calls a function and uses only the length of the slice or map
// that it returns: len(f()), or v := f() with len(v) as the only use of v.
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

// onlyCounts reports whether a side counts without making a list. Its name is that of a function that
// counts, or it calls such a function, or it increments its result in a loop.
func (in *input) onlyCounts(s side) bool {
	if s.object != nil && countingName.MatchString(s.object.Name()) {
		return true
	}
	isMaking := func(call *ast.CallExpr) bool {
		return in.makesResults(call) || isBuiltin(in.pass.TypesInfo, call, "append") || isMake(in.pass.TypesInfo, call)
	}
	if s.body == nil || !in.hasIntResult(s) || hasNode(s.body, isMaking) {
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

// countedSides returns a side for each function that a call of a variable may run, and nothing for
// other calls. The node of a side, where a finding is reported, is the function literal, or the call
// for a declared function. A function of another package has no body.
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
