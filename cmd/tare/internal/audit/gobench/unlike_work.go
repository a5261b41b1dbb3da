package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// unlikeWork finds sides of a comparison that do less than another side:
//
//	b.Run("std", func(b *testing.B) { for b.Loop() { json.NewEncoder(w).Encode(v) } })
//	b.Run("fast", func(b *testing.B) { for b.Loop() { fast.NewEncoder(w) } }) // only makes a value
//
// The sides are the sub-benchmarks of a benchmark, the functions of a table of cases, or the
// benchmarks of a file. The rule judges the work of a side by the names of the functions that the
// side calls, and by whether functions of the package have loops.
func unlikeWork() rule {
	return rule{Rule: audit.Rule{
		ID: "unlike-work", Severity: tare.Warn,
		Title:   "The sides of a comparison do different work.",
		Why:     "The ratio of a side that encodes to one that only allocates describes neither.",
		Do:      "let each side begin with the same input and end with an equal output, and check that once",
		Command: compareCodecs,
		Seen:    []string{"tare: studies json-encode, ffi"},
	}, find: func(in *input) {
		byOuter, byFile := map[*benchmark][]*loop{}, map[string][]*loop{}
		for _, b := range in.suite.benchmarks {
			main := b.mainLoop()
			switch {
			case main == nil || !main.timed: // nothing to compare
			case b.outer != nil:
				byOuter[b.outer] = append(byOuter[b.outer], main)
			case strings.HasPrefix(b.name, "Benchmark"):
				file := in.pass.Fset.Position(b.decl.Pos()).Filename
				byFile[file] = append(byFile[file], main)
			}
		}
		for outer, loops := range byOuter {
			if len(loops) > 1 {
				in.compareSubBenchmarks(outer, loops)
			}
		}
		for _, loops := range byFile {
			if len(loops) > 1 {
				isWork := func(*ast.CallExpr) bool { return false } // only a call's name shows work
				in.reportMakers(loops, isWork)
			}
		}
		in.eachTimedLoop(func(l *loop) {
			inspectTimedNodes(in, l, func(call *ast.CallExpr) {
				in.reportPartial(in.tableSides(call))
				in.reportEmptyOutput(in.calledSides(call))
				in.reportCounted(in.countedSides(call))
				in.reportUnstarted(in.calledSides(call))
			})
		})
	}}
}

// compareSubBenchmarks reports sub-benchmarks of outer that do less than another one. loops has the
// main loop of each.
func (in *input) compareSubBenchmarks(outer *benchmark, loops []*loop) {
	isWork := in.repeatsWork
	if workBenchmarkName.MatchString(outer.name) {
		isWork = func(*ast.CallExpr) bool { return true } // the name shows that all sides work on values
	}
	in.reportMakers(loops, isWork)
	in.reportUnfinished(loops)
	var sides []side
	for _, l := range loops {
		sides = append(sides, side{node: l.node, body: l.body, name: in.subName(l.owner)})
	}
	in.reportPartial(sides)
	in.reportEmptyOutput(sides)
	in.reportCounted(sides)
}

var (
	// makerName matches the names of functions that only make a value, such as NewEncoder.
	makerName = lazyregexp.New(`^(New[A-Z]?|new[A-Z]?|make$|new$|Make[A-Z]|make[A-Z])`)
	// workerName matches the names of functions that work on a value.
	workerName = lazyregexp.New(`^(Marshal|Unmarshal|Encode|Decode|Write|Read|Parse|Serialize|Deserialize|Compress|Copy|Hash|Sum|Format|Validate)`)
	// workBenchmarkName matches the names of benchmarks whose sides all work on values.
	workBenchmarkName = lazyregexp.New(`^Benchmark(Marshal|Unmarshal|Encod|Decod|Serializ|Deserializ|Compress|Pars|Format)`)
	// declaredMakerName matches names of benchmarks that announce that they only make values.
	declaredMakerName = lazyregexp.New(`(?i)new|alloc|make|create|init|empty|noop|baseline|overhead|construct`)
)

// reportMakers reports loops that only make values or reserve memory for them, if another loop works
// on values: it calls a function that workerName matches or for which isWork returns true.
func (in *input) reportMakers(loops []*loop, isWork func(*ast.CallExpr) bool) {
	hasWork := slices.ContainsFunc(loops, func(l *loop) bool {
		for call := range nodesOf[*ast.CallExpr](l.body) {
			if workerName.MatchString(calledName(call)) || isWork(call) {
				return true
			}
		}
		return false
	})
	if !hasWork {
		return
	}
	for _, l := range loops {
		isDeclared := declaredMakerName.MatchString(l.owner.name) || declaredMakerName.MatchString(in.subName(l.owner))
		switch {
		case isDeclared:
			// The name of the side announces that it only makes values.
		case in.onlyMakes(l):
			in.report(l.node, "this side of the comparison only makes values, but another side also works on them")
		case in.onlyReserves(l):
			in.report(l.node, "this side of the comparison only makes room for values, but another side also works on them")
		}
	}
}

// onlyMakes reports whether a loop makes values, by literals and by functions that makerName matches,
// and does nothing else.
func (in *input) onlyMakes(l *loop) bool {
	values, onlyMakes := 0, true
	in.inspectTimed(l, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if in.pass.TypesInfo.Types[n.Fun].IsType() {
				return true // a conversion
			}
			values++
			isMaker := makerName.MatchString(calledName(n)) && !in.isCallOfValue(n)
			onlyMakes = onlyMakes && isMaker
			return !isMaker // the arguments of a maker do not count as work
		case *ast.CompositeLit:
			values++
		case *ast.BinaryExpr:
			onlyMakes = onlyMakes && formatExpr(n.Y) == "nil" // err != nil is not work
		case *ast.RangeStmt, *ast.SendStmt, *ast.IndexExpr:
			onlyMakes = false
		}
		return true
	})
	return values > 0 && onlyMakes
}

// finisherName matches the names of methods that make the result from collected values: enc.Bytes()
// after calls of enc.AddString.
var finisherName = lazyregexp.New(`^(Bytes|Encode|Marshal|Build|Finish|Render|Sum|Close|Flush)$`)

// reportUnfinished reports loops that only make a reader, and loops that collect values in a variable
// without ever calling the variable's finisher (see finisherName).
func (in *input) reportUnfinished(loops []*loop) {
	for _, l := range loops {
		if len(l.body.List) == 1 {
			if a, ok := l.body.List[0].(*ast.AssignStmt); ok && len(a.Rhs) == 1 && isNamed(in.pass.TypesInfo.TypeOf(a.Rhs[0]), "io", "Reader", "ReadCloser") {
				in.report(l.node, "this side of the comparison makes a reader, and nothing reads from it")
			}
		}
		for a := range nodesOf[*ast.AssignStmt](l.body) {
			if a.Tok != token.DEFINE || len(a.Lhs) != 1 {
				continue
			}
			v := in.variable(a.Lhs[0])
			if finish := in.findFinisher(v); finish != nil && in.onlyCollects(l, v, a.Lhs[0]) {
				in.report(l.node, "this side of the comparison never calls %s.%s, which makes the result of what it collects", v.Name(), finish.Name())
			}
		}
	}
}

// onlyCollects reports whether a loop calls methods of v, a variable that the loop declares at
// declared, and neither calls a finisher of v nor passes v to a function that may call one.
func (in *input) onlyCollects(l *loop, v *types.Var, declared ast.Expr) bool {
	collects, mayFinish := false, false
	in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
		if id == declared {
			return
		}
		sel, isSelector := parent(path, 1).(*ast.SelectorExpr)
		_, isStored := parent(path, 1).(*ast.AssignStmt)
		switch {
		case isSelector && finisherName.MatchString(sel.Sel.Name):
			mayFinish = true
		case isSelector:
			collects = true
		case !isStored:
			mayFinish = true // the variable is passed on
		}
	})
	return collects && !mayFinish
}

// findFinisher returns a method of v that finisherName matches, that this package declares, and whose
// body has a loop. It returns nil if v is nil or has no such method.
func (in *input) findFinisher(v *types.Var) *types.Func {
	if v == nil {
		return nil
	}
	methods := types.NewMethodSet(v.Type())
	for i := range methods.Len() {
		fn, ok := methods.At(i).Obj().(*types.Func)
		if !ok || fn.Pkg() != in.pass.Pkg || !finisherName.MatchString(fn.Name()) {
			continue
		}
		if f := in.flowGraph().Declared(fn); f.Body != nil {
			if hasLoop, _ := in.readWork(f.Body, 0); hasLoop {
				return fn
			}
		}
	}
	return nil
}

var (
	// reserverName matches the names of methods that reserve memory for values, and getterName the
	// names of methods that return the values or their number.
	reserverName = lazyregexp.New(`^(Reserve|Grow|Ensure|Prealloc|Resize)`)
	getterName   = lazyregexp.New(`^(Bytes|String|Len|Cap|Size|Reset|Result|Buffer)$`)
)

// onlyReserves reports whether a loop calls a method that reserves memory, and otherwise only getters,
// conversions and builtin functions.
func (in *input) onlyReserves(l *loop) bool {
	reserves, hasOther := false, false
	inspectTimedNodes(in, l, func(call *ast.CallExpr) {
		if t := in.pass.TypesInfo.Types[call.Fun]; t.IsType() || t.IsBuiltin() {
			return
		}
		name := calledName(call)
		reserves = reserves || reserverName.MatchString(name)
		hasOther = hasOther || !reserverName.MatchString(name) && !getterName.MatchString(name)
	})
	return reserves && !hasOther
}

// repeatsWork reports whether a call is of a function of the package that has a loop. It returns false
// for functions of test files and for functions that makerName matches.
func (in *input) repeatsWork(call *ast.CallExpr) bool {
	fn := in.callee(call)
	if fn == nil || in.isTestHelper(fn) || makerName.MatchString(fn.Name()) {
		return false
	}
	f := in.flowGraph().Declared(fn)
	if f.Body == nil {
		return false
	}
	hasLoop, _ := in.readWork(f.Body, 0)
	return hasLoop
}

// side is a side of a comparison: the loop of a sub-benchmark, or a function in a table of cases.
type side struct {
	node     ast.Node
	body     *ast.BlockStmt
	function *ast.FuncType // nil for a loop
	object   *types.Func   // nil for a loop or a literal
	name     string        // source text of its name in b.Run or the table; "" if it has none
}

// tableSides returns the sides of a call such as c.encode(v), where c is a case of a table: the
// function literals of the table. It returns nil for other calls.
func (in *input) tableSides(call *ast.CallExpr) []side {
	if in.callee(call) != nil {
		return nil
	}
	var sides []side
	var table ast.Node
	for _, f := range in.flowGraph().Called(call, nil) {
		lit, ok := f.Node.(*ast.FuncLit)
		if !ok || !in.isHarness(lit) {
			continue
		}
		inTable, name := in.findCase(lit)
		if inTable == nil || table != nil && table != inTable {
			return nil
		}
		table = inTable
		sides = append(sides, side{node: lit, body: lit.Body, function: lit.Type, name: name})
	}
	return sides
}

// findCase returns the table that contains a function literal, i.e. the outermost literal of a slice,
// map or struct around it, and the name of its case. The name consists of the key and the constants
// next to the function: "std" in {"std", func() { … }}. The table is nil if no literal is around lit.
func (in *input) findCase(lit *ast.FuncLit) (table ast.Node, name string) {
	for _, file := range in.pass.Files {
		if !isNodeIn(lit, file) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			c, ok := n.(*ast.CompositeLit)
			if !ok || !isNodeIn(lit, c) {
				return n != nil && isNodeIn(lit, n)
			}
			if table == nil {
				table = c
			}
			for _, e := range c.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if isNodeIn(lit, kv.Value) {
						name += " " + formatExpr(kv.Key)
					}
					e = kv.Value
				}
				if value := in.pass.TypesInfo.Types[e].Value; value != nil {
					name += " " + value.String()
				}
			}
			return true
		})
	}
	return table, name
}

var (
	// wholeName matches the names of functions that work on all parts of their input, e.g. FindAll.
	wholeName = lazyregexp.New(`^(Find|Replace|Read|Get|Scan|Split|Parse|Decode|List|Match|Collect|Extract)\w*All|^All[A-Z]|All(Index|String|Submatch|$)`)
	// partName matches the names of functions that work on a part of their input, or only check it.
	partName = lazyregexp.New(`^(Next|First|Peek|Head|Skip|Valid|IsValid|Has[A-Z]|Contains|Index|Find|Match|Cut)`)
	// decoderName matches the names of functions that decode their input, and checkerName the names of
	// functions that only read it.
	decoderName = lazyregexp.New(`^(Unmarshal|Decode)`)
	checkerName = lazyregexp.New(`^(Valid|IsValid|Validate|Skip|Peek)`)
	// headWriterName matches the names of functions that write a part of their input.
	headWriterName = lazyregexp.New(`^(Append|Write|Encode|Marshal|Put)(Head|Header|Prefix|Length|Size|Count)$`)
	// writerName matches the names of functions that write all of their input, unless headWriterName
	// matches too.
	writerName = lazyregexp.New(`^(Append|Write|Encode|Marshal|Put)`)
	// declaredPartName matches names of sides that announce that they do less.
	declaredPartName = lazyregexp.New(`(?i)next|first|peek|head|skip|valid|has|contains|index|one|single|prefix|noop|no-op|nop|baseline|empty|overhead|none|null|discard`)
)

// sideWork describes the work of a side by the names of the functions that it calls.
type sideWork struct {
	side        side
	worksOnAll  bool
	worksOnPart bool // a function works on a part of the input, and the side has no loop
	decodes     bool
	checks      bool // a function only checks the input
	writesAll   bool
	writesHead  bool // a function writes the beginning of the input
	isDeclared  bool // the name announces that the side does less
}

// readSide returns the work of a side.
func (in *input) readSide(s side) sideWork {
	hasLoop, names := in.readWork(s.body, 0)
	w := sideWork{side: s, isDeclared: isDeclaredLess(s.name)}
	for _, name := range names {
		isHead := headWriterName.MatchString(name)
		w.worksOnAll = w.worksOnAll || wholeName.MatchString(name)
		w.worksOnPart = w.worksOnPart || partName.MatchString(name) && !hasLoop
		w.decodes = w.decodes || decoderName.MatchString(name)
		w.checks = w.checks || checkerName.MatchString(name)
		w.writesAll = w.writesAll || writerName.MatchString(name) && !isHead
		w.writesHead = w.writesHead || isHead
	}
	return w
}

// isDeclaredLess reports whether the name of a side announces that the side does less than others.
func isDeclaredLess(name string) bool {
	return declaredPartName.MatchString(name) || declaredMakerName.MatchString(name)
}

// reportPartial compares the sides in four ways: it reports sides that work on a part of their input,
// only check it, write only its beginning, or ignore it, if other sides do more.
func (in *input) reportPartial(sides []side) {
	var works []sideWork
	for _, s := range sides {
		works = append(works, in.readSide(s))
	}
	// split counts the sides for which hasAll is true. Of the other sides it returns those for which
	// hasPart is true.
	split := func(hasAll, hasPart func(w sideWork) bool) (all int, partial []sideWork) {
		for _, w := range works {
			if hasAll(w) {
				all++
			} else if hasPart(w) {
				partial = append(partial, w)
			}
		}
		return all, partial
	}
	report := func(partial []sideWork, text string) {
		for _, w := range partial {
			in.report(w.side.node, "this side of the comparison %s", text)
		}
	}
	all, partial := split(
		func(w sideWork) bool { return w.worksOnAll },
		func(w sideWork) bool { return w.worksOnPart && !w.isDeclared })
	if all > 0 && 2*len(partial) <= len(sides) {
		report(partial, "works on one part of its input, but another side works on all parts of it")
	}
	decoders, checkers := split(
		func(w sideWork) bool { return w.decodes },
		func(w sideWork) bool { return w.checks && !declaredPartName.MatchString(w.side.name) })
	if decoders > 0 && decoders+len(checkers) == len(sides) {
		report(checkers, "only checks its input, but another side decodes it")
	}
	writers, heads := split(
		func(w sideWork) bool { return w.writesAll },
		func(w sideWork) bool { return w.writesHead && !w.isDeclared })
	if writers > 0 && writers+len(heads) == len(sides) {
		report(heads, "writes only the beginning of its input, but another side writes all of it")
	}
	_, ignoring := split(
		func(w sideWork) bool { return w.isDeclared },
		func(w sideWork) bool { return in.ignoresInput(w.side) })
	if len(ignoring) < len(sides) {
		report(ignoring, "does nothing with its input, but another side works on it")
	}
}

// reportEmptyOutput reports sides that allocate their output and write nothing into it, if all other
// sides write their output. It reports nothing if most sides have an empty output.
func (in *input) reportEmptyOutput(sides []side) {
	var empty []side
	writing := 0
	for _, s := range sides {
		makes, writes := in.readOutput(s.body, map[ast.Node]bool{}, 0)
		switch {
		case writes:
			writing++
		case makes && in.callsOther(s.body) && !isDeclaredLess(s.name):
			empty = append(empty, s)
		}
	}
	if writing == 0 || writing+len(empty) != len(sides) || 2*len(empty) > len(sides) {
		return
	}
	for _, s := range empty {
		in.report(s.node, "this side of the comparison makes room for its output and writes nothing into it, but another side writes its own")
	}
}

// callsOther reports whether a side calls a function that makerName does not match. reportMakers
// reports sides that call only makers.
func (in *input) callsOther(body ast.Node) bool {
	for call := range nodesOf[*ast.CallExpr](body) {
		if fn := in.callee(call); fn != nil && !makerName.MatchString(fn.Name()) {
			return true
		}
	}
	return false
}

// calledSides returns all functions that a call such as encode(v) may run if encode is a variable, as
// the sides of a comparison. Unlike tableSides, it also returns declared functions. It returns nil
// for calls of a known function.
func (in *input) calledSides(call *ast.CallExpr) []side {
	if in.callee(call) != nil {
		return nil
	}
	var sides []side
	for _, f := range in.flowGraph().Called(call, nil) {
		if f.Body == nil {
			return nil
		}
		name := ""
		if lit, ok := f.Node.(*ast.FuncLit); ok {
			if !in.isHarness(lit) {
				return nil
			}
			_, name = in.findCase(lit)
		}
		sides = append(sides, side{node: f.Node, body: f.Body, function: f.Type, name: name})
	}
	return sides
}

// readOutput reports whether body and the functions of the package that it calls make a slice of
// bytes, and whether they may write into one: they append, set elements, or call other packages. seen
// contains the functions that were read; depth is the number of calls between the side and body.
func (in *input) readOutput(body ast.Node, seen map[ast.Node]bool, depth int) (makes, writes bool) {
	info := in.pass.TypesInfo
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				_, isElement := lhs.(*ast.IndexExpr)
				writes = writes || isElement
			}
		case *ast.CallExpr:
			if info.Types[n.Fun].IsType() || isBuiltin(info, n, "len") || isBuiltin(info, n, "cap") {
				return true
			}
			if isBuiltin(info, n, "make") {
				makes = makes || isBytes(info.TypeOf(n))
				return true
			}
			fn := in.callee(n)
			isPool := isMethodOf(fn, "sync", "Pool", "Get", "Put")
			switch {
			case isBuiltin(info, n, "append"), isBuiltin(info, n, "copy"):
				writes = true
			case isPool || fn == nil || fn.Pkg() == nil || fn.Pkg().Path() == "testing":
				// The called value is unknown, or the function writes no output.
			case isFunc(fn, "slices", "Grow"):
				makes = makes || isBytes(info.TypeOf(n))
			case fn.Pkg() != in.pass.Pkg:
				writes = true
			default:
				f := in.flowGraph().Declared(fn)
				if f.Body == nil || depth == maxTimedDepth {
					writes = true
				} else if !seen[f.Node] {
					seen[f.Node] = true
					innerMakes, innerWrites := in.readOutput(f.Body, seen, depth+1)
					makes, writes = makes || innerMakes, writes || innerWrites
				}
			}
		}
		return !writes
	})
	return makes, writes
}

// maxWrapperStatements is the maximum number of statements of a wrapper, a function that only calls
// others.
const maxWrapperStatements = 3

// readWork returns whether a body has a loop, and the names of the functions that it calls. If depth
// is 0, the body is that of a side, and the names include those in the wrappers that it calls.
func (in *input) readWork(body ast.Node, depth int) (hasLoop bool, names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			hasLoop = true
		case *ast.CallExpr:
			if in.pass.TypesInfo.Types[n.Fun].IsType() || in.pass.TypesInfo.Types[n.Fun].IsBuiltin() {
				return true
			}
			names = append(names, calledName(n))
			if fn := in.callee(n); fn != nil && depth == 0 {
				if f := in.flowGraph().Declared(fn); f.Body != nil && len(f.Body.List) <= maxWrapperStatements {
					_, inner := in.readWork(f.Body, depth+1)
					names = append(names, inner...)
				}
			}
		}
		return true
	})
	return hasLoop, names
}

// ignoresInput reports whether a side has named parameters other than a *testing.B, and uses none of
// them.
func (in *input) ignoresInput(s side) bool {
	if s.function == nil || len(s.body.List) == 0 {
		return false
	}
	hasParam, isUsed := false, false
	for _, p := range flow.Params(s.function) {
		if isNamed(in.pass.TypesInfo.TypeOf(p.Type), "testing") || p.Name == nil {
			continue
		}
		if v, ok := in.pass.TypesInfo.Defs[p.Name].(*types.Var); ok {
			hasParam, isUsed = true, isUsed || in.usesVariable(s.body, v)
		}
	}
	return hasParam && !isUsed
}

// isCallOfValue reports whether a call calls a variable, whose value may be any function.
func (in *input) isCallOfValue(call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, isVar := in.pass.TypesInfo.Uses[id].(*types.Var)
	return isVar
}

// subName returns the source text of the first argument of the b.Run call that runs a sub-benchmark.
// It returns "" for a benchmark that is a declared function.
func (in *input) subName(b *benchmark) string {
	if b.outer == nil {
		return ""
	}
	name := ""
	for call := range nodesOf[*ast.CallExpr](b.outer.body) {
		if len(call.Args) == 2 && call.Args[1] == b.node {
			name = formatExpr(call.Args[0])
		}
	}
	return name
}
