package gobench

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file has the rule writer-unflushed. It finds a benchmark that writes to a buffered writer
// and never flushes it. The last part of the output is not written, and this work is not measured:
//
//	func BenchmarkWrite(b *testing.B) {
//		for range b.N {
//			w := bufio.NewWriter(file)
//			w.Write(data) // missing after it: w.Flush()
//		}
//	}
//
// The rule knows the types of such writers by name. It finds variables with one, also in a struct,
// and reports a variable that the loop writes to if no use may flush it. The file wrapped_writer.go
// reads methods of such structs. A frame is the body that is searched: the loop, or a function of
// the test files that the loop calls.

// writerUnflushed returns the rule writer-unflushed.
func writerUnflushed() rule {
	return rule{Rule: audit.Rule{
		ID: "writer-unflushed", Severity: tare.Void,
		Title:   "A buffered writer is made in the loop and never flushed or closed.",
		Why:     "What it was given stays in its buffer: the last part is never encoded or written, and no check of the output was possible. A published comparison of JSON libraries measured such a stream.",
		Do:      "call Flush or Close in each iteration, and compare the output once with that of the other side",
		Command: compareCodecs,
		Seen:    []string{"tare: study json-encode (jsoniter's Stream)"},
	}, find: func(in *input) {
		if bufferedWriters[strings.TrimSuffix(in.pass.Pkg.Path(), "_test")] != nil {
			return // the benchmarks are about the writer
		}
		in.eachTimedLoop(func(l *loop) {
			in.reportOuter(l)
			in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if v := in.findWriter(n, f); v != nil && in.writesOnly(f.body, v, 0) {
						in.report(n, "%s is written to and never flushed or closed", v.Name())
					}
				case *ast.CallExpr:
					if p, ok := in.findReset(n, f); ok && in.writesOnlyTo(l, p) {
						in.report(n, "%s is reset and written to in each iteration, and never flushed or closed in it", p)
					}
					in.reportUnnamed(n, f)
				}
				return true
			})
		})
	}}
}

// bufferedWriters has the types of buffered writers by package.
var bufferedWriters = map[string][]string{
	"archive/tar":                        {"Writer"},
	"archive/zip":                        {"Writer"},
	"bufio":                              {"Writer", "ReadWriter"},
	"compress/flate":                     {"Writer"},
	"compress/gzip":                      {"Writer"},
	"compress/lzw":                       {"Writer"},
	"compress/zlib":                      {"Writer"},
	"encoding/csv":                       {"Writer"},
	"mime/multipart":                     {"Writer"},
	"text/tabwriter":                     {"Writer"},
	"github.com/andybalholm/brotli":      {"Writer"},
	"github.com/golang/snappy":           {"Writer"},
	"github.com/json-iterator/go":        {"Stream"},
	"github.com/klauspost/compress/gzip": {"Writer"},
	"github.com/klauspost/compress/zstd": {"Encoder"},
	"github.com/pierrec/lz4/v4":          {"Writer"},
}

// reportUnnamed reports a buffered writer that is in no variable, so that the loop cannot flush it.
// An example is csv.NewWriter(f).Write(record). The frame f has the body in which the call is: the
// loop, or a function of the test files that it calls.
func (in *input) reportUnnamed(call *ast.CallExpr, f *frame) {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok && !isOneOf(sel.Sel.Name, []string{"Flush", "Close", "Reset"}) {
		made, ok := sel.X.(*ast.CallExpr)
		if ok && in.makesWriter(made, f) && in.isFunctionCall(made) && in.callee(call) != nil {
			in.report(made, "the writer that %s returns is written to and never flushed or closed", formatExpr(made))
		}
	}
	for i, arg := range call.Args { // encode(bufio.NewWriter(f), value)
		made, ok := arg.(*ast.CallExpr)
		if ok && in.makesWriter(made, f) && in.argumentWritesOnly(call, i, 0) {
			in.report(made, "the writer that %s returns is written to by %s and never flushed or closed", formatExpr(made), formatExpr(call.Fun))
		}
	}
}

// findWriter returns the variable that a statement sets to a buffered writer, or nil. The writer is
// new or from a pool.
func (in *input) findWriter(a *ast.AssignStmt, f *frame) *types.Var {
	if len(a.Rhs) != 1 {
		return nil
	}
	v := in.variable(a.Lhs[0])
	if v == nil || !in.isLocal(v) || !isPosIn(v.Pos(), f.body) {
		return nil
	}
	switch rhs := ast.Unparen(a.Rhs[0]).(type) {
	case *ast.CallExpr:
		if in.makesWriter(rhs, f) {
			return v
		}
	case *ast.TypeAssertExpr:
		if call, ok := rhs.X.(*ast.CallExpr); ok && isOrWrapsWriter(in.pass.TypesInfo.TypeOf(rhs), 0) && calledName(call) == "Get" {
			return v
		}
	}
	return nil
}

// findReset returns the buffered writer that a call resets, if it is declared before the loop.
func (in *input) findReset(call *ast.CallExpr, f *frame) (p varPath, ok bool) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) != 1 {
		return varPath{}, false
	}
	if !in.resetsPart(in.callee(call)) && (sel.Sel.Name != "Reset" || !in.mayBeWriter(sel.X, f.binding)) {
		return varPath{}, false
	}
	p, ok = in.pathOf(sel.X, f.binding)
	return p, ok && in.isLocalBefore(p.root, f.loop)
}

// mayBeWriter reports whether an expression may be a buffered writer, or a struct around one.
func (in *input) mayBeWriter(e ast.Expr, binding flow.Binding) bool {
	t := in.pass.TypesInfo.TypeOf(e)
	if t == nil || !types.IsInterface(t) {
		return isOrWrapsWriter(t, 0)
	}
	isWriter := func(value types.Type) bool { return isOrWrapsWriter(firstResult(value), 0) }
	return slices.ContainsFunc(in.flowGraph().Types(e, binding), isWriter)
}

// writesOnlyTo reports whether a loop, or a function of the test files that it calls, writes to p
// and never flushes it. A use that the rule does not know may flush the writer.
func (in *input) writesOnlyTo(l *loop, p varPath) bool {
	hasWrite, hasOther := in.findWrites(l, p)
	if p.fields == "" {
		writes, others := in.classifyWrites(l.body, p.root, 0)
		hasWrite, hasOther = hasWrite || writes, hasOther || others || in.hasFlushValue(l, p.root)
	}
	return hasWrite && !hasOther
}

// findWrites reports whether the calls of a loop write to p, and whether they may flush it. The
// calls may be of a method in a variable, such as write := w.Write, and in functions of the test
// files that the loop calls.
func (in *input) findWrites(l *loop, p varPath) (hasWrite, hasOther bool) {
	isOther := func(f flow.Function) bool { return f.Body == nil || !in.isTestCode(f.Node) }
	in.inspectCallsDeep(l.body, func(call *ast.CallExpr, binding flow.Binding) {
		called := in.flowGraph().Called(call, binding)
		for _, f := range called {
			if f.Object == nil || f.Receiver == nil || !in.namesPath(f.Receiver, binding, p) {
				continue
			}
			isFlush := in.isFlush(f.Object)
			hasWrite = hasWrite || !isFlush && !in.isReset(f.Object)
			hasOther = hasOther || isFlush
		}
		isFollowed := len(called) > 0 && !slices.ContainsFunc(called, isOther)
		for i, arg := range call.Args {
			switch {
			case isFollowed || !in.namesPath(arg, binding, p):
			case in.argumentWritesOnly(call, i, 0):
				hasWrite = true
			default:
				hasOther = true
			}
		}
	})
	return hasWrite, hasOther
}

// isFlush reports whether a method may flush its receiver, or does not write.
func (in *input) isFlush(fn *types.Func) bool {
	return fn != nil && (flushingName.MatchString(fn.Name()) || in.flushesPart(fn, 0))
}

// isReset reports whether a method resets its receiver without a flush.
func (in *input) isReset(fn *types.Func) bool {
	return fn != nil && (fn.Name() == "Reset" || in.resetsPart(fn))
}

// hasFlushValue reports whether the benchmark has a method of a writer as a value, which may flush it:
// finish := w.Close.
func (in *input) hasFlushValue(l *loop, v *types.Var) bool {
	return in.hasUse(l.path[0], v, func(_ *ast.Ident, path []ast.Node) bool {
		fn, isCalled := in.selectedMethod(path)
		return !isCalled && in.isFlush(fn)
	})
}

// selectedMethod returns the method that the last identifier of a path selects, nil if there is
// none, and whether the method is called there.
func (in *input) selectedMethod(path []ast.Node) (fn *types.Func, isCalled bool) {
	sel, ok := parent(path, 1).(*ast.SelectorExpr)
	if !ok {
		return nil, false
	}
	call, isCall := parent(path, 2).(*ast.CallExpr)
	fn, _ = in.pass.TypesInfo.Uses[sel.Sel].(*types.Func)
	return fn, isCall && call.Fun == ast.Expr(sel)
}

// namesPath reports whether an expression names p.
func (in *input) namesPath(e ast.Expr, binding flow.Binding, p varPath) bool {
	other, ok := in.pathOf(e, binding)
	return ok && other == p
}

// flushingName matches methods that may flush a writer, or do not write.
var flushingName = lazyregexp.New(`^(Flush|Close|ReadFrom|Buffer|Available|Error|Finish|Sync|End)$`)

// resetsWriter reports whether a loop, or a function of the test files that it calls, calls Reset on
// a writer. findReset finds such a call.
func (in *input) resetsWriter(l *loop, v *types.Var) bool {
	found := false
	in.inspectCallsDeep(l.body, func(call *ast.CallExpr, binding flow.Binding) {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		found = found || ok && sel.Sel.Name == "Reset" && in.namesPath(sel.X, binding, varPath{root: v})
	})
	return found
}

// makesWriter reports whether a call makes a buffered writer. Its type may be a struct around one,
// or an interface.
func (in *input) makesWriter(call *ast.CallExpr, f *frame) bool {
	t := firstResult(in.pass.TypesInfo.TypeOf(call))
	if isListedWriter(t) || isEncoder(in.callee(call)) {
		return true
	}
	if t == nil || !hasMethod(t, "Close") && !hasMethod(t, "Flush") {
		return false
	}
	if !types.IsInterface(t) {
		return isOrWrapsWriter(t, 0) && in.isFunctionCall(call)
	}
	return slices.ContainsFunc(in.flowGraph().Types(call, f.binding), func(value types.Type) bool { return isOrWrapsWriter(firstResult(value), 0) })
}

// isFunctionCall reports whether no method is called. A method may return a writer of its receiver.
func (in *input) isFunctionCall(call *ast.CallExpr) bool {
	fn := in.callee(call)
	return fn == nil || fn.Signature().Recv() == nil
}

// isEncoder reports whether a function returns a writer that keeps the last bytes until it is
// closed.
func isEncoder(fn *types.Func) bool {
	return isFunc(fn, "encoding/base64", "NewEncoder") || isFunc(fn, "encoding/base32", "NewEncoder") || isFunc(fn, "encoding/ascii85", "NewEncoder") ||
		isFunc(fn, "encoding/hex", "Dumper") || isFunc(fn, "compress/lzw", "NewWriter")
}

// hasMethod reports whether a type has a method without parameters.
func hasMethod(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	fn, ok := obj.(*types.Func)
	return ok && fn.Signature().Params().Len() == 0
}

// isOrWrapsWriter reports whether a type is a listed writer. It may also be a struct with such a
// field and Flush or Close. The depth is the number of structs around it.
func isOrWrapsWriter(t types.Type, depth int) bool {
	const maxStructDepth = 3
	if t == nil || depth > maxStructDepth {
		return false
	}
	if isListedWriter(t) {
		return true
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, hasName := types.Unalias(t).(*types.Named)
	if !hasName || !hasMethod(t, "Flush") && !hasMethod(t, "Close") {
		return false
	}
	s, isStruct := named.Underlying().(*types.Struct)
	if !isStruct || isStandard(named.Obj().Pkg()) {
		return false
	}
	for field := range s.Fields() {
		if isOrWrapsWriter(field.Type(), depth+1) {
			return true
		}
	}
	return false
}

// isStandard reports whether the path of a package is one of the standard library.
func isStandard(pkg *types.Package) bool {
	if pkg == nil {
		return true
	}
	// elements are the first elements of the paths of packages with writers.
	const elements = " archive bufio bytes compress crypto database debug encoding fmt go hash html image internal io log mime net os runtime strings sync testing text time "
	first, _, _ := strings.Cut(pkg.Path(), "/")
	return strings.Contains(elements, " "+first+" ")
}

// reportOuter reports writers from before a loop that nothing flushes. Only the last output is
// lost, so the findings are notes.
func (in *input) reportOuter(l *loop) {
	seen := map[*types.Var]bool{}
	in.inspectTimed(l, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, _ := in.pass.TypesInfo.Uses[id].(*types.Var)
		if v == nil || seen[v] || !in.isLocalBefore(v, l) {
			return true
		}
		seen[v] = true
		call, ok := in.initOf(l.owner.decl, v).(*ast.CallExpr)
		isWriter := ok && isListedWriter(firstResult(in.pass.TypesInfo.TypeOf(call)))
		if isWriter && in.writesOnly(l.owner.decl, v, 0) && !in.resetsWriter(l, v) {
			in.reportAs(tare.Note, id, "%s is never flushed or closed: what the last iterations wrote stays in its buffer", v.Name())
		}
		return true
	})
}

// isListedWriter reports whether t is one of bufferedWriters, or a pointer to one.
func isListedWriter(t types.Type) bool {
	for pkg, names := range bufferedWriters {
		if isNamed(t, pkg, names...) {
			return true
		}
	}
	return false
}

// writesOnly reports whether root writes to v and has no use that may flush v. The depth counts the
// functions that have passed v on.
func (in *input) writesOnly(root ast.Node, v *types.Var, depth int) bool {
	hasWrite, hasOther := in.classifyWrites(root, v, depth)
	return hasWrite && !hasOther
}

// classifyWrites reports whether root writes to v, and whether it has a use that may flush v. To
// pass on a method such as w.Write counts as a write. The depth is that of writesOnly.
func (in *input) classifyWrites(root ast.Node, v *types.Var, depth int) (hasWrite, hasOther bool) {
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.SelectorExpr:
			fn, isCalled := in.selectedMethod(path)
			if isCalled && in.isReset(fn) {
				return
			}
			if isCalled && fn == nil && !flushingName.MatchString(p.Sel.Name) || fn != nil && !in.isFlush(fn) {
				hasWrite = true
				return
			}
		case *ast.CallExpr:
			if isMethodOf(in.callee(p), "sync", "Pool", "Put") {
				return
			}
			for i, a := range p.Args {
				if a == ast.Expr(id) && in.argumentWritesOnly(p, i, depth) {
					hasWrite = true
					return
				}
			}
		case *ast.AssignStmt:
			if containsIdent(p.Lhs, id) {
				return
			}
		}
		hasOther = true
	})
	return hasWrite, hasOther
}

// argumentWritesOnly reports whether all functions that a call may run only write to an argument. A
// function of the standard library with a parameter io.Writer does so.
func (in *input) argumentWritesOnly(call *ast.CallExpr, index, depth int) bool {
	called := in.flowGraph().Called(call, nil)
	for _, f := range called {
		if f.Body == nil {
			if f.Object == nil || !isStandard(f.Object.Pkg()) || !takesWriter(f.Object, index) {
				return false
			}
			continue
		}
		params := flow.Params(f.Type)
		if depth == maxTimedDepth || index >= len(params) || params[index].Name == nil {
			return false
		}
		v, _ := in.pass.TypesInfo.Defs[params[index].Name].(*types.Var)
		if v == nil || !in.writesOnly(f.Body, v, depth+1) {
			return false
		}
	}
	return len(called) > 0
}

// takesWriter reports whether the parameter of fn with this index is an io.Writer.
func takesWriter(fn *types.Func, index int) bool {
	params := fn.Signature().Params()
	return index < params.Len() && isNamed(params.At(index).Type(), "io", "Writer")
}
