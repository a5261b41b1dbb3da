package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// sharedState finds sub-benchmarks that read a variable that another sub-benchmark has
// filled, and those that fill a variable that the next case of a table finds filled.
func sharedState() rule {
	return rule{Rule: audit.Rule{
		ID: "shared-state", Severity: tare.Warn,
		Title:   "A sub-benchmark reads what another one wrote.",
		Why:     "How much is there depends on the b.N of the other, which differs from run to run. Run alone, by -bench or by a tool that measures one benchmark at a time, it finds nothing there.",
		Do:      "fill the state in each sub-benchmark, with a fixed number of entries",
		Command: compareRevisions,
		Seen:    []string{"tare: study users (the store of all benchmarks)"},
	}, find: func(in *input) {
		for _, outer := range in.suite.benchmarks {
			var subs []*benchmark
			for _, b := range in.suite.benchmarks {
				if b.outer == outer {
					subs = append(subs, b)
				}
			}
			if len(subs) > 1 {
				in.reportShared(outer, subs)
			}
			for _, sub := range subs {
				in.reportCarried(outer, sub)
			}
			in.reportGrown(outer)
		}
	}}
}

// sub is a sub-benchmark, as a call of b.Run names it.
type sub struct {
	call     *ast.CallExpr
	function flow.Function
	loops    []*loop
	repeated bool // the call is in a loop over cases
}

// reportGrown reports what a sub-benchmark works on and an earlier one adds an entry to in each
// iteration: its size depends on the b.N of the other, also if it was filled before.
func (in *input) reportGrown(outer *benchmark) {
	var subs []sub
	inspectPath(outer.body, func(n ast.Node, path []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isMethodOf(in.callee(call), "testing", "B", "Run") || len(call.Args) != 2 {
			return true
		}
		repeated := false
		for _, p := range path {
			switch p.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				repeated = true
			}
		}
		for _, f := range in.flowGraph().Functions(call.Args[1], nil) {
			if f.Body == nil { // of another package
				continue
			}
			s := sub{call: call, function: f, repeated: repeated}
			for _, b := range in.suite.benchmarks {
				if b.node == f.Node {
					s.loops = b.loops
				}
			}
			subs = append(subs, s)
		}
		return false
	})
	for i, writer := range subs {
		in.reportEvicted(outer, writer, subs[i+1:])
		if writer.repeated {
			in.reportSetUp(outer, writer)
		}
		in.reportLeft(outer, writer, subs[i+1:])
		in.reportRemembered(outer, writer, subs[i+1:])
		grown := in.findGrown(outer.body, writer)
		for p, n := range grown {
			if writer.repeated && p.root.Pos() < in.casesOf(outer, writer.call) {
				in.report(n, "%s gets an entry in each iteration, and the sub-benchmark of the next case begins with them", p)
				continue
			}
			for _, reader := range subs[i+1:] {
				if reader.function.Node == writer.function.Node {
					continue
				}
				if use := in.findUse(reader, p); use != nil && !in.isRenewed(outer, p, writer.call.End(), reader.call.Pos()) {
					in.report(use, "%s is used in this line, but another sub-benchmark adds an entry in each iteration, in line %d", p, in.pass.Fset.Position(n.Pos()).Line)
					break
				}
			}
		}
	}
}

// reportEvicted reports what a sub-benchmark puts entries into that take the place of others, if a
// later one uses it with other keys: how many of them it finds depends on the first.
func (in *input) reportEvicted(outer *benchmark, writer sub, later []sub) {
	for _, put := range in.keyedCalls(writer) {
		if !in.isEvicting(put.method) || isWithinPos(put.place.root.Pos(), writer.function.Node) {
			continue
		}
		for _, reader := range later {
			use := in.findUse(reader, put.place)
			if reader.function.Node == writer.function.Node || use == nil || in.isRenewed(outer, put.place, writer.call.End(), reader.call.Pos()) {
				continue
			}
			var keys *types.Var // nil if the reader has no keys, or some that the writer has
			for _, c := range in.keyedCalls(reader) {
				if c.place != put.place {
					continue
				}
				if keys = c.keys; keys == put.keys {
					keys = nil
					break
				}
			}
			if keys != nil {
				in.report(use, "%s is used with keys of %s, but another sub-benchmark puts those of %s in their place, in line %d", put.place, keys.Name(), put.keys.Name(), in.lineOf(put.call))
				break
			}
		}
	}
}

// reportRemembered reports what remembers the results of a sub-benchmark, if the sub-benchmark of the next
// case, or a later one, uses it: it looks up what the first computed.
func (in *input) reportRemembered(outer *benchmark, writer sub, later []sub) {
	seen := map[place]bool{}
	for _, l := range writer.loops {
		in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, called := range in.flowGraph().Called(call, f.bound) {
				if called.Bound == nil || called.Object == nil || !in.remembers(called.Object) {
					continue
				}
				root, fields := in.flowGraph().Path(called.Bound, f.bound)
				p := place{root, fields}
				if root == nil || seen[p] || !isWithinPos(root.Pos(), outer.body) || isWithinPos(root.Pos(), writer.function.Node) || in.mayEmpty(writer, p) {
					continue
				}
				seen[p] = true
				if writer.repeated && root.Pos() < in.casesOf(outer, writer.call) {
					in.report(n, "%s remembers what it was asked for, and the sub-benchmark of the next case finds it there", p)
					continue
				}
				for _, reader := range later {
					if use := in.findUse(reader, p); use != nil && reader.function.Node != writer.function.Node && !in.isRenewed(outer, p, writer.call.End(), reader.call.Pos()) {
						in.report(use, "%s remembers what another sub-benchmark asked it for, in line %d", p, in.lineOf(n))
						break
					}
				}
			}
			return true
		})
	}
}

// remembers reports whether a method returns what it finds in a map of its receiver, and otherwise stores
// its result there.
func (in *input) remembers(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	f := in.flowGraph().Declared(fn)
	if recv == nil || f.Body == nil {
		return false
	}
	isEntry := func(e ast.Expr) bool {
		index, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok {
			return false
		}
		t := in.pass.TypesInfo.TypeOf(index.X)
		if t == nil {
			return false
		}
		_, isMap := t.Underlying().(*types.Map)
		root, _ := in.flowGraph().Path(index.X, flow.Binding{recv: nil})
		return isMap && root == recv
	}
	finds, stores := false, false
	for n := range ast.Preorder(f.Body) {
		switch n := n.(type) {
		case *ast.IfStmt:
			init, ok := n.Init.(*ast.AssignStmt)
			if ok && len(init.Lhs) == 2 && len(init.Rhs) == 1 && isEntry(init.Rhs[0]) && in.variable(n.Cond) == in.variable(init.Lhs[1]) {
				for range nodesOf[*ast.ReturnStmt](n.Body) {
					finds = true
				}
			}
		case *ast.AssignStmt:
			stores = stores || len(n.Lhs) == 1 && isEntry(n.Lhs[0])
		}
	}
	return finds && stores
}

// keyedCall is a call of a method whose first argument is an element of a variable.
type keyedCall struct {
	call   *ast.CallExpr
	method *types.Func
	place  place      // the receiver
	keys   *types.Var // the variable
}

// keyedCalls returns the calls of a sub-benchmark's loops whose first argument is an element of a
// slice or array.
func (in *input) keyedCalls(s sub) []keyedCall {
	var out []keyedCall
	for _, l := range s.loops {
		in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			index, ok := ast.Unparen(call.Args[0]).(*ast.IndexExpr)
			if !ok {
				return true
			}
			keys, _ := in.flowGraph().Path(index.X, f.bound)
			for _, called := range in.flowGraph().Called(call, f.bound) {
				if called.Bound == nil || called.Object == nil || keys == nil {
					continue
				}
				if root, fields := in.flowGraph().Path(called.Bound, f.bound); root != nil {
					out = append(out, keyedCall{call, called.Object, place{root, fields}, keys})
				}
			}
			return true
		})
	}
	return out
}

// isEvicting reports whether a method of the package adds an entry to a map or list, and removes
// others: a cache of fixed size.
func (in *input) isEvicting(fn *types.Func) bool {
	f := in.flowGraph().Declared(fn)
	if f.Body == nil {
		return false
	}
	adds, removes := false, false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if index, ok := lhs.(*ast.IndexExpr); ok {
					_, isMap := in.pass.TypesInfo.TypeOf(index.X).Underlying().(*types.Map)
					adds = adds || isMap
				}
			}
		case *ast.CallExpr:
			removes = removes || isBuiltin(in.pass.TypesInfo, n, "delete") || isMethodOf(in.callee(n), "container/list", "List", "Remove")
			removes = removes || strings.HasPrefix(strings.ToLower(calledName(n)), "evict")
		}
		return true
	})
	return adds && removes
}

// place is a variable, or a field of it.
type place struct {
	root   *types.Var
	fields string // ".store" of s.store
}

// String returns the place as in the source text.
func (p place) String() string { return p.root.Name() + p.fields }

// casesOf returns the position of the outermost loop of a benchmark that contains a call.
func (in *input) casesOf(outer *benchmark, call *ast.CallExpr) token.Pos {
	at := call.Pos()
	inspectPath(outer.body, func(n ast.Node, path []ast.Node) bool {
		if n == ast.Node(call) {
			for i := len(path) - 1; i >= 0; i-- {
				switch path[i].(type) {
				case *ast.ForStmt, *ast.RangeStmt:
					at = path[i].Pos()
				}
			}
		}
		return true
	})
	return at
}

// findGrown returns the places of the outer benchmark, or of the package, to which a sub-benchmark
// adds an entry in each iteration, and that it does not empty or set. Each has the call that adds.
func (in *input) findGrown(outer ast.Node, s sub) map[place]ast.Node {
	grown := map[place]ast.Node{}
	statements := map[ast.Expr]bool{}
	for _, l := range s.loops {
		in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
			add := func(e ast.Expr) {
				root, fields := in.flowGraph().Path(e, f.bound)
				if root == nil || isWithinPos(root.Pos(), s.function.Node) || f.isIn(root.Pos()) {
					return
				}
				if isShared := isWithinPos(root.Pos(), outer) || !in.isLocal(root); isShared {
					grown[place{root, fields}] = n
				}
			}
			if a, ok := n.(*ast.AssignStmt); ok && f.callDepth() == 0 && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
				call, isCall := a.Rhs[0].(*ast.CallExpr)
				if isCall && isBuiltin(in.pass.TypesInfo, call, "append") && formatExpr(call.Args[0]) == formatExpr(a.Lhs[0]) {
					add(a.Lhs[0])
				}
			}
			if statement, ok := n.(*ast.ExprStmt); ok {
				statements[statement.X] = true
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, called := range in.flowGraph().Called(call, f.bound) {
				if called.Bound != nil && in.isGrowing(called.Object, statements[call]) {
					add(called.Bound)
				}
			}
			return true
		})
	}
	for p := range grown {
		if in.mayEmpty(s, p) {
			delete(grown, p)
		}
	}
	return grown
}

// mayEmpty reports whether a sub-benchmark may empty a place or take entries from it, by its name of
// a method, or sets it.
func (in *input) mayEmpty(s sub, p place) bool { return in.empties(s, p, false) }

// empties does the work of mayEmpty. If refills is set, a loop that takes entries and adds others does not empty
// the place.
func (in *input) empties(s sub, p place, refills bool) bool {
	found := false
	ast.Inspect(s.function.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && in.isOverlapping(sel.X, p) {
				found = found || shrinking.MatchString(sel.Sel.Name) && !(refills && in.isReplaced(s, p, n))
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				isGrown := false // x = append(x, …)
				if len(n.Lhs) == len(n.Rhs) {
					call, ok := n.Rhs[i].(*ast.CallExpr)
					isGrown = ok && isBuiltin(in.pass.TypesInfo, call, "append") && formatExpr(call.Args[0]) == formatExpr(lhs)
				}
				found = found || !isGrown && in.isOverlapping(lhs, p)
			}
		}
		return !found
	})
	return found
}

// isReplaced reports whether the timed loop around a call that takes an entry from a place also adds one to it.
func (in *input) isReplaced(s sub, p place, taken *ast.CallExpr) bool {
	for _, l := range s.loops {
		if !isWithin(taken, l.body) {
			continue
		}
		for call := range nodesOf[*ast.CallExpr](l.body) {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && in.isOverlapping(sel.X, p) && in.isGrowing(in.callee(call), false) {
				return true
			}
		}
	}
	return false
}

// shrinking matches the names of methods that take entries away.
var shrinking = lazyregexp.New(`^(Reset|Clear|Truncate|Delete|Remove|Pop|Dequeue|Drain|Evict|Flush|Close|Next|Take|Shift|Trim|Discard|Un(subscribe|register|link|watch))`)

// isOverlapping reports whether an expression is a place, a part of it, or contains it.
func (in *input) isOverlapping(e ast.Expr, p place) bool {
	root, fields := in.flowGraph().Path(e, nil)
	return root != nil && root == p.root && (strings.HasPrefix(fields+".", p.fields+".") || strings.HasPrefix(p.fields+".", fields+"."))
}

// findUse returns the first use of a place in the loops of a sub-benchmark, as the receiver or an
// argument of a call or the operand of range. It returns nil if the sub-benchmark sets the place.
func (in *input) findUse(s sub, p place) ast.Node {
	if in.mayEmpty(s, p) {
		return nil
	}
	return in.findFirstUse(s, p)
}

// findFirstUse does the work of findUse, also for a place that the sub-benchmark sets.
func (in *input) findFirstUse(s sub, p place) ast.Node {
	var first ast.Node
	for _, l := range s.loops {
		in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
			var operands []ast.Expr
			switch n := n.(type) {
			case *ast.CallExpr:
				operands = append(operands, n.Args...)
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
					operands = append(operands, sel.X)
				}
			case *ast.RangeStmt:
				operands = append(operands, n.X)
			case *ast.IndexExpr:
				operands = append(operands, n.X)
			}
			for _, e := range operands {
				root, fields := in.flowGraph().Path(e, f.bound)
				if first == nil && root == p.root && root != nil && fields == p.fields {
					first = n
				}
			}
			return true
		})
	}
	return first
}

// isRenewed reports whether a benchmark sets a place, or empties it, between two positions.
func (in *input) isRenewed(outer *benchmark, p place, from, to token.Pos) bool {
	found := false
	ast.Inspect(outer.body, func(n ast.Node) bool {
		if n == nil || n.Pos() < from || n.Pos() > to {
			return n == nil || n.Pos() <= to
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				found = found || in.isOverlapping(lhs, p)
			}
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && shrinking.MatchString(sel.Sel.Name) {
				found = found || in.isOverlapping(sel.X, p)
			}
		}
		return !found
	})
	return found
}

// isGrowing reports whether a method of the package adds an entry to its receiver whenever it is
// called: it appends to or inserts into one of its slices, puts a value into one of its maps under
// a number that it counts up, or pushes to a heap or list, and removes nothing. A method that
// returns a function to remove the entry only does if it is called as a statement.
func (in *input) isGrowing(fn *types.Func, isStatement bool) bool {
	if fn == nil || fn.Signature().Recv() == nil {
		return false
	}
	if isMethodOf(fn, "container/list", "List", "PushBack", "PushFront") {
		return true
	}
	f := in.flowGraph().Declared(fn)
	if f.Body == nil {
		return false
	}
	recv := fn.Signature().Recv()
	counted := in.findCounted(f.Body, recv)
	grows, shrinks := false, false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return !isStatement
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if i >= len(n.Rhs) || len(n.Lhs) != len(n.Rhs) {
					break
				}
				if root, _ := in.flowGraph().Path(lhs, flow.Binding{recv: nil}); root != recv && !in.isElementOf(root, recv) {
					continue
				}
				grows = grows || in.isCountedKey(lhs, counted)
				switch rhs := ast.Unparen(n.Rhs[i]).(type) {
				case *ast.CallExpr:
					grows = grows || isAppend(in, rhs) || isFunc(in.callee(rhs), "slices", "Insert")
				case *ast.SliceExpr:
					shrinks = true
				}
			}
		case *ast.CallExpr:
			grows = grows || isFunc(in.callee(n), "container/heap", "Push") || isMethodOf(in.callee(n), "container/list", "List", "PushBack", "PushFront")
			shrinks = shrinks || isBuiltin(in.pass.TypesInfo, n, "delete") || isBuiltin(in.pass.TypesInfo, n, "clear") || shrinking.MatchString(calledName(n))
		}
		return true
	})
	return grows && !shrinks
}

// findCounted returns the fields of a receiver that a body counts up by ++, as in the source text.
func (in *input) findCounted(body ast.Node, recv *types.Var) map[string]bool {
	counted := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if n, ok := n.(*ast.IncDecStmt); ok && n.Tok == token.INC {
			if root, fields := in.flowGraph().Path(n.X, flow.Binding{recv: nil}); root == recv && fields != "" {
				counted[fields] = true
			}
		}
		return true
	})
	return counted
}

// isCountedKey reports whether an expression is an entry of a map whose key is one of the counted
// fields, or a variable with the value of one.
func (in *input) isCountedKey(e ast.Expr, counted map[string]bool) bool {
	index, ok := e.(*ast.IndexExpr)
	if !ok {
		return false
	}
	_, isMap := in.pass.TypesInfo.TypeOf(index.X).Underlying().(*types.Map)
	_, fields := in.flowGraph().Path(index.Index, nil)
	return isMap && counted[fields]
}

// isElementOf reports whether a variable is the address of an element of a field of another.
func (in *input) isElementOf(v, of *types.Var) bool {
	if v == nil {
		return false
	}
	values := in.flowGraph().Values(v)
	if len(values) != 1 {
		return false
	}
	root, _ := in.flowGraph().Path(values[0], flow.Binding{of: nil})
	return root == of
}

// access holds the uses of a variable by a benchmark; each is nil without such a use.
type access struct {
	writes ast.Node // first write in a loop
	reads  ast.Node // first read
	fills  ast.Node // a use outside of the loops that may fill the variable, or an unknown use
}

// reportShared reports variables of a benchmark that one of its sub-benchmarks writes
// to in its loop and a later one reads, if the outer benchmark does not fill them.
func (in *input) reportShared(outer *benchmark, subs []*benchmark) {
	shared := map[*types.Var]bool{}
	ast.Inspect(outer.body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := in.pass.TypesInfo.Defs[id].(*types.Var); ok && in.suite.findBenchmark(id) == outer && v != outer.b {
				shared[v] = true
			}
		}
		_, lit := n.(*ast.FuncLit)
		return !lit
	})
	for v := range shared {
		if in.accessOf(outer, v, subs).writes != nil {
			continue // filled before
		}
		var writer ast.Node
		for _, b := range subs {
			a := in.accessOf(b, v, nil)
			onlyWrites := a.writes != nil && a.reads == nil
			onlyReads := a.reads != nil && a.writes == nil && a.fills == nil
			switch {
			case onlyWrites:
				writer = a.writes
			case onlyReads && writer != nil:
				in.report(a.reads, "%s is read in this line, but its content was written by another sub-benchmark, in line %d", v.Name(), in.pass.Fset.Position(writer.Pos()).Line)
				writer = nil
			}
		}
	}
}

// reportCarried reports a variable that the benchmark outer declares before a loop over
// cases, and to which the sub-benchmark of each case adds entries.
func (in *input) reportCarried(outer, sub *benchmark) {
	var cases ast.Node
	inspectPath(outer.body, func(n ast.Node, path []ast.Node) bool {
		if n == sub.node {
			for _, p := range path {
				switch p.(type) {
				case *ast.ForStmt, *ast.RangeStmt:
					cases = p
				}
			}
		}
		return cases == nil
	})
	if cases == nil {
		return
	}
	for _, l := range sub.loops {
		counter := in.counter(l)
		inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			v, _ := in.pass.TypesInfo.Uses[id].(*types.Var)
			if counter == nil || !in.isLocal(v) {
				return true
			}
			isBeforeCases := outer.body.Pos() <= v.Pos() && v.Pos() <= cases.Pos()
			if !isBeforeCases {
				return true
			}
			// The key is the first argument: store.Set(i, value).
			call, isCall := parent(path, 2).(*ast.CallExpr)
			if isWrite, _ := readUsage(id, path); isWrite && isCall && len(call.Args) > 0 && in.growsWith(call.Args[0], counter) {
				in.report(id, "%s gets entries from the sub-benchmark of each case, and the next case begins with them", v.Name())
			}
			return true
		})
	}
}

// growsWith reports whether an expression contains the counter of a loop, and does not
// bound it by %, & or an index.
func (in *input) growsWith(e ast.Expr, counter *types.Var) bool {
	contains, bounded := false, false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			contains = contains || in.pass.TypesInfo.Uses[n] == counter
		case *ast.BinaryExpr:
			bounded = bounded || n.Op == token.REM || n.Op == token.AND
		case *ast.IndexExpr:
			bounded = true
		}
		return true
	})
	return contains && !bounded
}

// accessOf returns the uses of a variable by a benchmark, without those in the
// sub-benchmarks subs. With subs all uses count as if they were in a loop.
func (in *input) accessOf(b *benchmark, v *types.Var, subs []*benchmark) access {
	var a access
	in.inspectUses(b.body, v, func(id *ast.Ident, path []ast.Node) {
		for _, sub := range subs {
			if isWithin(id, sub.node) {
				return
			}
		}
		isInLoop := len(subs) > 0
		for _, l := range b.loops {
			isInLoop = isInLoop || isWithin(id, l.body)
		}
		isWrite, isRead := readUsage(id, path)
		switch {
		case !isInLoop && !isRead:
			a.fills = id
		case isWrite && a.writes == nil:
			a.writes = id
		case isRead && a.reads == nil:
			a.reads = id
		case !isWrite && !isRead:
			a.fills = id
		}
	})
	return a
}

// readUsage reports whether a use of a variable changes its contents or reads them: by
// the name of the called method, or by an index. Both are false if it is unknown.
func readUsage(id *ast.Ident, path []ast.Node) (write, read bool) {
	switch p := parent(path, 1).(type) {
	case *ast.SelectorExpr:
		if _, isCall := parent(path, 2).(*ast.CallExpr); !isCall {
			return false, false
		}
		for _, verb := range []string{"Set", "Put", "Add", "Insert", "Store", "Push", "Create", "Register", "Enqueue", "Save"} {
			write = write || strings.HasPrefix(p.Sel.Name, verb)
		}
		for _, verb := range []string{"Get", "Load", "Find", "Lookup", "Contains", "Has", "List", "Pop", "Search", "Fetch"} {
			read = read || strings.HasPrefix(p.Sel.Name, verb)
		}
		return write, read && !write
	case *ast.IndexExpr:
		if a, ok := parent(path, 2).(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && a.Lhs[0] == ast.Expr(p) {
			return true, false
		}
		return false, p.X == ast.Expr(id)
	}
	return false, false
}
