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

// unlikeWork finds sides of a comparison that only make values if another side works on
// them. The sides are the sub-benchmarks of a benchmark, or the benchmarks of a file.
func unlikeWork() rule {
	return rule{Rule: audit.Rule{
		ID: "unlike-work", Severity: tare.Warn,
		Title:   "The sides of a comparison do different work.",
		Why:     "The ratio of a side that encodes to one that only allocates describes neither.",
		Do:      "let each side begin with the same input and end with an equal output, and check that once",
		Command: compareCodecs,
		Seen:    []string{"tare: studies json-encode, ffi"},
	}, find: func(in *input) {
		for _, outer := range in.suite.benchmarks {
			var sides []*loop
			for _, b := range in.suite.benchmarks {
				if b.outer != outer {
					continue
				}
				if main := in.mainLoop(b); main != nil && main.timed {
					sides = append(sides, main)
				}
			}
			if len(sides) > 1 {
				works := in.repeatsWork
				if outer != nil && workName.MatchString(outer.name) {
					works = func(*ast.CallExpr) bool { return true } // the benchmark says what its sides do
				}
				in.reportUnlike(sides, works)
				in.reportUnfinished(sides)
				in.reportPartial(in.sidesOf(sides))
				in.reportHollow(in.sidesOf(sides))
			}
		}
		in.eachTimedLoop(func(l *loop) {
			in.inspectTimed(l, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					in.reportPartial(in.tableSides(call))
					in.reportHollow(in.calledSides(call))
				}
				return true
			})
		})
		byFile := map[string][]*loop{}
		for _, b := range in.suite.benchmarks {
			main := in.mainLoop(b)
			if b.outer == nil && strings.HasPrefix(b.name, "Benchmark") && main != nil && main.timed {
				file := in.pass.Fset.Position(b.decl.Pos()).Filename
				byFile[file] = append(byFile[file], main)
			}
		}
		for _, sides := range byFile {
			if len(sides) > 1 {
				in.reportUnlike(sides, nil)
			}
		}
	}}
}

var (
	// maker matches the names of functions that only make a value.
	maker = lazyregexp.New(`^(New[A-Z]?|new[A-Z]?|make$|new$|Make[A-Z]|make[A-Z])`)
	// worker matches the names of functions that work on a value.
	worker = lazyregexp.New(`^(Marshal|Unmarshal|Encode|Decode|Write|Read|Parse|Serialize|Deserialize|Compress|Copy|Hash|Sum|Format|Validate)`)
	// workName matches the names of benchmarks whose sides all work on values.
	workName = lazyregexp.New(`^Benchmark(Marshal|Unmarshal|Encod|Decod|Serializ|Deserializ|Compress|Pars|Format)`)
	// declaredMaker matches the names of benchmarks that say that they only make values.
	declaredMaker = lazyregexp.New(`(?i)new|alloc|make|create|init|empty|noop|baseline|overhead|construct`)
)

// reportUnlike reports the sides that only make values if another one works on them: it calls a function
// with such a name, or one for which works returns true. works may be nil.
func (in *input) reportUnlike(sides []*loop, works func(*ast.CallExpr) bool) {
	if !slices.ContainsFunc(sides, func(l *loop) bool {
		found := in.hasCall(l.body, worker.MatchString)
		for call := range nodesOf[*ast.CallExpr](l.body) {
			found = found || works != nil && works(call)
		}
		return found
	}) {
		return
	}
	for _, l := range sides {
		values, onlyMakes := 0, true
		in.inspectTimed(l, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if in.pass.TypesInfo.Types[n.Fun].IsType() {
					return true // a conversion
				}
				values++
				isMaker := maker.MatchString(calledName(n)) && !isCallOfValue(in, n)
				onlyMakes = onlyMakes && isMaker
				return !isMaker // what its arguments compute is not the work
			case *ast.CompositeLit:
				values++
			case *ast.BinaryExpr:
				onlyMakes = onlyMakes && formatExpr(n.Y) == "nil" // a check of an error
			case *ast.RangeStmt, *ast.SendStmt, *ast.IndexExpr:
				onlyMakes = false
			}
			return true
		})
		isDeclared := declaredMaker.MatchString(l.owner.name) || declaredMaker.MatchString(in.subName(l.owner))
		switch {
		case isDeclared:
			// The name of the side says so.
		case values > 0 && onlyMakes:
			in.report(l.node, "this side of the comparison only makes values, but another side also works on them")
		case in.onlyReserves(l):
			in.report(l.node, "this side of the comparison only makes room for values, but another side also works on them")
		}
	}
}

// finisher matches the names of methods that make the result of what was collected.
var finisher = lazyregexp.New(`^(Bytes|Encode|Marshal|Build|Finish|Render|Sum|Close|Flush)$`)

// reportUnfinished reports the sides that only make a reader, and those that only collect values in one of their
// own, whose type has a method that makes the result and repeats something, if they never call it.
func (in *input) reportUnfinished(sides []*loop) {
	for _, l := range sides {
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
			finish := in.findFinisher(v)
			if finish == nil {
				continue
			}
			collects, other := false, false
			in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
				if id == a.Lhs[0] {
					return
				}
				sel, isSelector := parent(path, 1).(*ast.SelectorExpr)
				_, isStored := parent(path, 1).(*ast.AssignStmt)
				switch {
				case isSelector && finisher.MatchString(sel.Sel.Name):
					other = true
				case isSelector:
					collects = true
				case !isStored:
					other = true // a function gets it, which may finish it
				}
			})
			if collects && !other {
				in.report(l.node, "this side of the comparison never calls %s.%s, which makes the result of what it collects", v.Name(), finish.Name())
			}
		}
	}
}

// findFinisher returns the method of a variable's type, of the package, that makes the result of what was
// collected and repeats something. It returns nil without one.
func (in *input) findFinisher(v *types.Var) *types.Func {
	if v == nil {
		return nil
	}
	methods := types.NewMethodSet(v.Type())
	for i := range methods.Len() {
		fn, ok := methods.At(i).Obj().(*types.Func)
		if !ok || fn.Pkg() != in.pass.Pkg || !finisher.MatchString(fn.Name()) {
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
	// reserver and getter match the names of methods that make room for values, and that return what
	// there is.
	reserver = lazyregexp.New(`^(Reserve|Grow|Ensure|Prealloc|Resize)`)
	getter   = lazyregexp.New(`^(Bytes|String|Len|Cap|Size|Reset|Result|Buffer)$`)
)

// onlyReserves reports whether a loop makes room in a value, and calls nothing else but methods that return it.
func (in *input) onlyReserves(l *loop) bool {
	reserves, other := false, false
	inspectTimedNodes(in, l, func(call *ast.CallExpr) {
		if t := in.pass.TypesInfo.Types[call.Fun]; t.IsType() || t.IsBuiltin() {
			return
		}
		name := calledName(call)
		reserves = reserves || reserver.MatchString(name)
		other = other || !reserver.MatchString(name) && !getter.MatchString(name)
	})
	return reserves && !other
}

// repeatsWork reports whether a call is of a function of the package that repeats something, and does
// not have the name of one that makes a value.
func (in *input) repeatsWork(call *ast.CallExpr) bool {
	fn := in.callee(call)
	if fn == nil || in.isTestHelper(fn) || maker.MatchString(fn.Name()) {
		return false
	}
	f := in.flowGraph().Declared(fn)
	if f.Body == nil {
		return false
	}
	hasLoop, _ := in.readWork(f.Body, 0)
	return hasLoop
}

// side is a side of a comparison.
type side struct {
	node ast.Node
	body *ast.BlockStmt
	typ  *ast.FuncType // nil for a loop
	name string        // source text of what names it; "" if nothing does
}

// sidesOf returns loops as the sides of a comparison.
func (in *input) sidesOf(loops []*loop) []side {
	var sides []side
	for _, l := range loops {
		sides = append(sides, side{l.node, l.body, nil, in.subName(l.owner)})
	}
	return sides
}

// tableSides returns the function literals that a call of a field or variable may run: those of a
// table of cases. It returns nil for other calls.
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
		around, name := in.findCase(lit)
		if around == nil || table != nil && table != around {
			return nil
		}
		table = around
		sides = append(sides, side{lit, lit.Body, lit.Type, name})
	}
	return sides
}

// findCase returns the table that a function literal is in, i.e. the outermost literal of a slice, map
// or struct around it, and the key and the constants next to the function, which name its case. The
// table is nil if there is none.
func (in *input) findCase(lit *ast.FuncLit) (table ast.Node, name string) {
	for _, file := range in.pass.Files {
		if !isWithin(lit, file) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			c, ok := n.(*ast.CompositeLit)
			if !ok || !isWithin(lit, c) {
				return n != nil && isWithin(lit, n)
			}
			if table == nil {
				table = c
			}
			for _, e := range c.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if isWithin(lit, kv.Value) {
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
	// wholeWork matches the names of functions that work on all parts of their input.
	wholeWork = lazyregexp.New(`^(Find|Replace|Read|Get|Scan|Split|Parse|Decode|List|Match|Collect|Extract)\w*All|^All[A-Z]|All(Index|String|Submatch|$)`)
	// partWork matches the names of functions that work on a part of it, or only check it.
	partWork = lazyregexp.New(`^(Next|First|Peek|Head|Skip|Valid|IsValid|Has[A-Z]|Contains|Index|Find|Match|Cut)`)
	// decoding and checking match the names of functions that decode their input, and that only read it.
	decoding = lazyregexp.New(`^(Unmarshal|Decode)`)
	checking = lazyregexp.New(`^(Valid|IsValid|Validate|Skip|Peek)`)
	// headWriter matches the names of functions that write a part of their input.
	headWriter = lazyregexp.New(`^(Append|Write|Encode|Marshal|Put)(Head|Header|Prefix|Length|Size|Count)$`)
	// writer matches the names of functions that write all of it.
	writer = lazyregexp.New(`^(Append|Write|Encode|Marshal|Put)`)
	// declaredPart matches the names of sides that say that they do less.
	declaredPart = lazyregexp.New(`(?i)next|first|peek|head|skip|valid|has|contains|index|one|single|prefix|noop|no-op|nop|baseline|empty|overhead|none|null|discard`)
)

// reportPartial reports the sides that work on a part of their input if another one works on all of it,
// and those that ignore their input if the others use it.
func (in *input) reportPartial(sides []side) {
	var whole, part, ignoring, checkers, heads []side
	decoders, writers := 0, 0
	for _, s := range sides {
		hasLoop, names := in.readWork(s.body, 0)
		decodes, isCheck := false, false
		isWhole, isPart := false, false
		writesHead, writesMore := false, false
		for _, name := range names {
			if headWriter.MatchString(name) {
				writesHead = true
			} else {
				writesMore = writesMore || writer.MatchString(name)
			}
			decodes = decodes || decoding.MatchString(name)
			isCheck = isCheck || checking.MatchString(name)
			isWhole = isWhole || wholeWork.MatchString(name)
			isPart = isPart || partWork.MatchString(name)
		}
		switch {
		case decodes:
			decoders++
		case isCheck && !declaredPart.MatchString(s.name):
			checkers = append(checkers, s)
		}
		isDeclared := declaredPart.MatchString(s.name) || declaredMaker.MatchString(s.name)
		switch {
		case writesMore:
			writers++
		case writesHead && !isDeclared:
			heads = append(heads, s)
		}
		switch {
		case isWhole:
			whole = append(whole, s)
		case isPart && !hasLoop && !isDeclared:
			part = append(part, s)
		}
		if in.ignoresInput(s) && !isDeclared {
			ignoring = append(ignoring, s)
		}
	}
	if len(whole) > 0 && 2*len(part) <= len(sides) {
		for _, s := range part {
			in.report(s.node, "this side of the comparison works on one part of its input, but another side works on all parts of it")
		}
	}
	if decoders > 0 && decoders+len(checkers) == len(sides) {
		for _, s := range checkers {
			in.report(s.node, "this side of the comparison only checks its input, but another side decodes it")
		}
	}
	if writers > 0 && writers+len(heads) == len(sides) {
		for _, s := range heads {
			in.report(s.node, "this side of the comparison writes only the beginning of its input, but another side writes all of it")
		}
	}
	if len(ignoring) < len(sides) {
		for _, s := range ignoring {
			in.report(s.node, "this side of the comparison does nothing with its input, but another side works on it")
		}
	}
}

// reportHollow reports the sides that make room for their output and write nothing into it, if another side writes
// its own and at most half of the sides are such.
func (in *input) reportHollow(sides []side) {
	var hollow []side
	working := 0
	for _, s := range sides {
		makes, writes := in.findRoom(s.body, map[ast.Node]bool{}, 0)
		switch {
		case writes:
			working++
		case makes && in.callsMore(s.body) && !declaredMaker.MatchString(s.name) && !declaredPart.MatchString(s.name):
			hollow = append(hollow, s)
		}
	}
	if working == 0 || working+len(hollow) != len(sides) || 2*len(hollow) > len(sides) {
		return
	}
	for _, s := range hollow {
		in.report(s.node, "this side of the comparison makes room for its output and writes nothing into it, but another side writes its own")
	}
}

// callsMore reports whether a side calls more than functions that make values, which reportUnlike reports.
func (in *input) callsMore(body ast.Node) bool {
	for call := range nodesOf[*ast.CallExpr](body) {
		if fn := in.callee(call); fn != nil && !maker.MatchString(fn.Name()) {
			return true
		}
	}
	return false
}

// calledSides returns the functions that a call of a variable may run, with the cases of a table that they are in, as
// the sides of a comparison.
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
		sides = append(sides, side{f.Node, f.Body, f.Type, name})
	}
	return sides
}

// findRoom returns whether what a side runs makes a slice of bytes or a value around one, and whether it writes:
// it appends, sets elements, or calls something outside of the package that may do so.
func (in *input) findRoom(body ast.Node, seen map[ast.Node]bool, depth int) (makes, writes bool) {
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
			switch {
			case isBuiltin(info, n, "append"), isBuiltin(info, n, "copy"):
				writes = true
			case fn == nil || fn.Pkg() == nil || isMethodOf(fn, "sync", "Pool", "Get") || isMethodOf(fn, "sync", "Pool", "Put") || fn.Pkg().Path() == "testing":
				// The function gets the output, or keeps room.
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
					m, w := in.findRoom(f.Body, seen, depth+1)
					makes, writes = makes || m, writes || w
				}
			}
		}
		return !writes
	})
	return makes, writes
}

// isBytes reports whether a type is a slice of bytes.
func isBytes(t types.Type) bool {
	if t == nil {
		return false
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	basic, ok := s.Elem().Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Byte
}

// maxWrapperStatements is the number of statements of a function that only calls others.
const maxWrapperStatements = 3

// readWork returns whether a body repeats something, and the names of the functions that it calls,
// with those that the small functions of the package call in turn.
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

// ignoresInput reports whether a side has parameters with names, other than a testing.B, and uses
// none of them.
func (in *input) ignoresInput(s side) bool {
	if s.typ == nil || len(s.body.List) == 0 {
		return false
	}
	hasParam, used := false, false
	for _, p := range flow.Params(s.typ) {
		if isNamed(in.pass.TypesInfo.TypeOf(p.Type), "testing") || p.Name == nil {
			continue
		}
		if v, ok := in.pass.TypesInfo.Defs[p.Name].(*types.Var); ok {
			hasParam = true
			in.inspectUses(s.body, v, func(*ast.Ident, []ast.Node) { used = true })
		}
	}
	return hasParam && !used
}

// isCallOfValue reports whether a call calls a variable, which may hold any function.
func isCallOfValue(in *input, call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, isVar := in.pass.TypesInfo.Uses[id].(*types.Var)
	return isVar
}

// subName returns the source text of the name that a sub-benchmark is run under, and ""
// for a benchmark that is a declared function.
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
