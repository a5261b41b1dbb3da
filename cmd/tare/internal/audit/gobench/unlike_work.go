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

// unlikeWork finds comparisons in which one side does less than another:
//
//	b.Run("std", func(b *testing.B) { for b.Loop() { json.NewEncoder(w).Encode(v) } })
//	b.Run("fast", func(b *testing.B) { for b.Loop() { fast.NewEncoder(w) } })
//
// The sides are sub-benchmarks, the functions of a table of cases, or the benchmarks of a file. The
// rule judges their work by the names of the functions that they call.
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
				isWork := func(*ast.CallExpr) bool { return false } // only the name counts
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

// compareSubBenchmarks compares the sub-benchmarks of outer. loops has the main loop of each.
func (in *input) compareSubBenchmarks(outer *benchmark, loops []*loop) {
	isWork := in.repeatsWork
	if workBenchmarkName.MatchString(outer.name) {
		isWork = func(*ast.CallExpr) bool { return true }
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
	// makerName matches functions that only make a value, such as NewEncoder.
	makerName = lazyregexp.New(`^(New[A-Z]?|new[A-Z]?|make$|new$|Make[A-Z]|make[A-Z])`)
	// workerName matches functions that work on a value.
	workerName = lazyregexp.New(`^(Marshal|Unmarshal|Encode|Decode|Write|Read|Parse|Serialize|Deserialize|Compress|Copy|Hash|Sum|Format|Validate)`)
	// workBenchmarkName matches benchmarks in which all sides work on values.
	workBenchmarkName = lazyregexp.New(`^Benchmark(Marshal|Unmarshal|Encod|Decod|Serializ|Deserializ|Compress|Pars|Format)`)
	// declaredMakerName matches benchmarks that are meant to only make values.
	declaredMakerName = lazyregexp.New(`(?i)new|alloc|make|create|init|empty|noop|baseline|overhead|construct`)
)

// reportMakers reports loops that only make values, if another loop works on them. A call works if
// workerName matches or isWork returns true.
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
			// The side is meant to only make values.
		case in.onlyMakes(l):
			in.report(l.node, "this side of the comparison only makes values, but another side also works on them")
		case in.onlyReserves(l):
			in.report(l.node, "this side of the comparison only makes room for values, but another side also works on them")
		}
	}
}

// onlyMakes reports whether a loop only makes values, by literals or by functions like NewEncoder.
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
			return !isMaker // the arguments of a maker are no work
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

// finisherName matches methods that make the result of collected values. An example is enc.Bytes()
// after calls of enc.AddString.
var finisherName = lazyregexp.New(`^(Bytes|Encode|Marshal|Build|Finish|Render|Sum|Close|Flush)$`)

// reportUnfinished reports loops that only make a reader. It also reports loops that collect values
// without calling a finisher.
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

// onlyCollects reports whether a loop calls methods of v, but no finisher. The loop declares v at
// declared.
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

// findFinisher returns a finisher among the methods of v, or nil. It must have a loop.
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
	// reserverName matches methods for reserving memory, such as Grow. The name of a getter is
	// Bytes or Len, for example.
	reserverName = lazyregexp.New(`^(Reserve|Grow|Ensure|Prealloc|Resize)`)
	getterName   = lazyregexp.New(`^(Bytes|String|Len|Cap|Size|Reset|Result|Buffer)$`)
)

// onlyReserves reports whether a loop reserves memory and calls nothing else but getters and
// builtins.
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

// repeatsWork reports whether a call runs a function of the package that has a loop. Functions of
// test files and makers do not count.
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

// side is a side of a comparison: the loop of a sub-benchmark, or a function in a table.
type side struct {
	node     ast.Node
	body     *ast.BlockStmt
	function *ast.FuncType // nil for a loop
	object   *types.Func   // nil for a loop or a literal
	name     string        // source text of its name; "" if it has none
}

// tableSides returns the functions of a table that a call such as c.encode(v) may run. Here c is a
// case of the table.
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

// findCase returns the table around a function literal and the name of its case. The table is the
// outermost composite literal, nil if there is none. The name "std" of {"std", func() { … }} is
// made of constants next to the function.
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
	// wholeName matches functions that work on all parts of their input, such as FindAll.
	wholeName = lazyregexp.New(`^(Find|Replace|Read|Get|Scan|Split|Parse|Decode|List|Match|Collect|Extract)\w*All|^All[A-Z]|All(Index|String|Submatch|$)`)
	// partName matches functions that work on a part of their input, or only check it.
	partName = lazyregexp.New(`^(Next|First|Peek|Head|Skip|Valid|IsValid|Has[A-Z]|Contains|Index|Find|Match|Cut)`)
	// decoderName and checkerName match functions that decode their input, or only check it.
	decoderName = lazyregexp.New(`^(Unmarshal|Decode)`)
	checkerName = lazyregexp.New(`^(Valid|IsValid|Validate|Skip|Peek)`)
	// headWriterName matches functions that write the beginning of their input.
	headWriterName = lazyregexp.New(`^(Append|Write|Encode|Marshal|Put)(Head|Header|Prefix|Length|Size|Count)$`)
	// writerName matches functions that write their input, or its beginning.
	writerName = lazyregexp.New(`^(Append|Write|Encode|Marshal|Put)`)
	// declaredPartName matches sides that are meant to do less.
	declaredPartName = lazyregexp.New(`(?i)next|first|peek|head|skip|valid|has|contains|index|one|single|prefix|noop|no-op|nop|baseline|empty|overhead|none|null|discard`)
)

// sideWork describes the work of a side.
type sideWork struct {
	side        side
	worksOnAll  bool
	worksOnPart bool // and has no loop
	decodes     bool
	checks      bool
	writesAll   bool
	writesHead  bool // writes only the beginning
	isDeclared  bool // is meant to do less
}

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

// isDeclaredLess reports whether a side is meant to do less, by its name.
func isDeclaredLess(name string) bool {
	return declaredPartName.MatchString(name) || declaredMakerName.MatchString(name)
}

// reportPartial reports sides that do less with their input than another side. They work on a part
// of it, only check it, write only its beginning, or ignore it.
func (in *input) reportPartial(sides []side) {
	var works []sideWork
	for _, s := range sides {
		works = append(works, in.readSide(s))
	}
	// split counts the sides with hasAll. It returns the others with hasPart.
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

// reportEmptyOutput reports sides that allocate their output and write nothing into it. All other
// sides have to write theirs, and these must not be the minority.
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

// callsOther reports whether a side calls a function that is no maker. reportMakers reports the
// other sides.
func (in *input) callsOther(body ast.Node) bool {
	for call := range nodesOf[*ast.CallExpr](body) {
		if fn := in.callee(call); fn != nil && !makerName.MatchString(fn.Name()) {
			return true
		}
	}
	return false
}

// calledSides returns the functions that a call of a variable may run. Unlike tableSides, it also
// returns declared functions.
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

// readOutput reports whether body makes a slice of bytes, and whether it may write into one. It
// reads the called functions of the package, too, once each. depth is the number of calls around
// body.
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
				// This writes no output, as far as known.
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

// maxWrapperStatements is the maximum number of statements of a function that only calls others.
const maxWrapperStatements = 3

// readWork returns whether a body has a loop, and the names of the functions that it calls. At
// depth 0 it also returns the names in short wrappers.
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

// ignoresInput reports whether a side has parameters and uses none. A *testing.B does not count.
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

// isCallOfValue reports whether a call calls a variable.
func (in *input) isCallOfValue(call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, isVar := in.pass.TypesInfo.Uses[id].(*types.Var)
	return isVar
}

// subName returns the source text of the name of a sub-benchmark in b.Run, else "".
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
