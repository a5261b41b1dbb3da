package gobench

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// bufferedWriters holds the names of the types of buffered writers by package.
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

// writerUnflushed finds buffered writers that an iteration makes or resets and writes to, or that
// are made before the loop, and that nothing flushes: w := bufio.NewWriter(f); w.Write(data).
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
			return // benchmarks of the writer itself
		}
		in.eachTimedLoop(func(l *loop) {
			in.reportOuter(l)
			in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if v := in.findWriter(n, f); v != nil && in.writesOnly(f.body, v, 0) {
						in.report(n, "%s is written to and never flushed or closed", v.Name())
					}
				case *ast.CallExpr:
					if v := in.findReset(l, n); v != nil && in.writesOnly(l.body, v, 0) {
						in.report(n, "%s is reset and written to in each iteration, and never flushed or closed in it", v.Name())
					}
					in.reportUnnamed(n, f)
				}
				return true
			})
		})
	}}
}

// reportUnnamed reports a buffered writer that is made as the receiver or an argument of a call, so
// that it has no name by which the loop could close it: csv.NewWriter(f).Write(record).
func (in *input) reportUnnamed(call *ast.CallExpr, f *frame) {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok && !isOneOf(sel.Sel.Name, []string{"Flush", "Close", "Reset"}) {
		made, ok := sel.X.(*ast.CallExpr)
		if ok && in.isBufferedCall(made, f) && in.isMaker(made) && in.callee(call) != nil {
			in.report(made, "the writer that %s returns is written to and never flushed or closed", formatExpr(made))
		}
	}
	for i, arg := range call.Args {
		made, ok := arg.(*ast.CallExpr)
		if ok && in.isBufferedCall(made, f) && in.argumentWritesOnly(call, i, 0) {
			in.report(made, "the writer that %s returns is written to by %s and never flushed or closed", formatExpr(made), formatExpr(call.Fun))
		}
	}
}

// findWriter returns the variable that a statement declares or sets to a new buffered writer, or to
// one of a pool. It returns nil for other statements.
func (in *input) findWriter(a *ast.AssignStmt, f *frame) *types.Var {
	if len(a.Rhs) != 1 {
		return nil
	}
	v := in.variable(a.Lhs[0])
	if v == nil || !in.isLocal(v) || !isWithinPos(v.Pos(), f.body) {
		return nil
	}
	switch rhs := ast.Unparen(a.Rhs[0]).(type) {
	case *ast.CallExpr:
		if in.isBufferedCall(rhs, f) {
			return v
		}
	case *ast.TypeAssertExpr:
		if call, ok := rhs.X.(*ast.CallExpr); ok && isBufferedType(in.pass.TypesInfo.TypeOf(rhs), 0) && calledName(call) == "Get" {
			return v
		}
	}
	return nil
}

// findReset returns the buffered writer from before a loop on which a call in the loop calls Reset.
// It returns nil for other calls.
func (in *input) findReset(l *loop, call *ast.CallExpr) *types.Var {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Reset" || len(call.Args) != 1 {
		return nil
	}
	v := in.variable(sel.X)
	if !in.isOutside(v, l) || !in.isLocal(v) || !isBufferedType(v.Type(), 0) {
		return nil
	}
	return v
}

// isReset reports whether a loop calls Reset on a writer, which is reported by itself.
func (in *input) isReset(l *loop, v *types.Var) bool {
	found := false
	in.inspectUses(l.body, v, func(_ *ast.Ident, path []ast.Node) {
		sel, ok := parent(path, 1).(*ast.SelectorExpr)
		found = found || ok && sel.Sel.Name == "Reset"
	})
	return found
}

// isBufferedCall reports whether a call makes a buffered writer: its first result has such a type,
// or is an interface with Close or Flush that may hold a value of such a type.
func (in *input) isBufferedCall(call *ast.CallExpr, f *frame) bool {
	if isBufferedWriter(firstResult(in.pass.TypesInfo.TypeOf(call))) || isEncoder(in.callee(call)) {
		return true
	}
	t := firstResult(in.pass.TypesInfo.TypeOf(call))
	switch {
	case t == nil || !hasMethod(t, "Close") && !hasMethod(t, "Flush"):
		return false
	case !types.IsInterface(t):
		return isBufferedType(t, 0) && in.isMaker(call)
	}
	return slices.ContainsFunc(in.flowGraph().Types(call, f.binding), func(made types.Type) bool { return isBufferedType(made, 0) })
}

// isMaker reports whether a call is of a function or variable, not of a method, whose result may
// belong to its receiver.
func (in *input) isMaker(call *ast.CallExpr) bool {
	fn := in.callee(call)
	return fn == nil || fn.Signature().Recv() == nil
}

// isEncoder reports whether a function returns an io.WriteCloser that buffers the last bytes until
// it is closed.
func isEncoder(fn *types.Func) bool {
	return isFunc(fn, "encoding/base64", "NewEncoder") || isFunc(fn, "encoding/base32", "NewEncoder") || isFunc(fn, "encoding/ascii85", "NewEncoder") ||
		isFunc(fn, "encoding/hex", "Dumper") || isFunc(fn, "compress/lzw", "NewWriter")
}

// hasMethod reports whether a value of a type has a method without parameters.
func hasMethod(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	fn, ok := obj.(*types.Func)
	return ok && fn.Signature().Params().Len() == 0
}

// isBufferedType reports whether a type is that of a buffered writer, or a struct with a method
// Flush or Close and a field of such a type. depth is the number of structs around the type.
func isBufferedType(t types.Type, depth int) bool {
	const maxStructDepth = 3
	if t == nil || depth > maxStructDepth {
		return false
	}
	if isBufferedWriter(t) {
		return true
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || !hasMethod(t, "Flush") && !hasMethod(t, "Close") {
		return false
	}
	s, ok := named.Underlying().(*types.Struct)
	if !ok || isStandard(named.Obj().Pkg()) {
		return false
	}
	for field := range s.Fields() {
		if isBufferedType(field.Type(), depth+1) {
			return true
		}
	}
	return false
}

// isStandard reports whether a package is of the standard library, by the first element of its
// path.
func isStandard(pkg *types.Package) bool {
	if pkg == nil {
		return true
	}
	first, _, _ := strings.Cut(pkg.Path(), "/")
	return strings.Contains(standardElements, " "+first+" ")
}

// standardElements holds the first elements of the paths of those packages of the standard library
// that have writers.
const standardElements = " archive bufio bytes compress crypto database debug encoding fmt go hash html image internal io log mime net os runtime strings sync testing text time "

// reportOuter reports writers that are made before a loop and that nothing in the function flushes.
// Only the output of the last iterations stays in the buffer, so the findings are notes.
func (in *input) reportOuter(l *loop) {
	seen := map[*types.Var]bool{}
	in.inspectTimed(l, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, _ := in.pass.TypesInfo.Uses[id].(*types.Var)
		if v == nil || seen[v] || !in.isOutside(v, l) || !in.isLocal(v) {
			return true
		}
		seen[v] = true
		call, ok := in.initOf(l.owner.decl, v).(*ast.CallExpr)
		isWriter := ok && isBufferedWriter(firstResult(in.pass.TypesInfo.TypeOf(call)))
		if isWriter && in.writesOnly(l.owner.decl, v, 0) && !in.isReset(l, v) {
			in.reportAs(tare.Note, id, "%s is never flushed or closed: what the last iterations wrote stays in its buffer", v.Name())
		}
		return true
	})
}

// isBufferedWriter reports whether a type is one of bufferedWriters, or a pointer to it.
func isBufferedWriter(t types.Type) bool {
	for pkg, names := range bufferedWriters {
		if isNamed(t, pkg, names...) {
			return true
		}
	}
	return false
}

// writesOnly reports whether all uses of a writer below root write to it or cannot flush it: they
// call methods that write, reset it, put it in a pool, or pass it to a function that only writes
// (see argumentWritesOnly). It returns false if no use writes. depth is the number of such
// functions around root.
func (in *input) writesOnly(root ast.Node, v *types.Var, depth int) bool {
	hasWrite, hasOther := false, false // hasOther: a use that may flush the writer
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.SelectorExpr:
			call, isCall := parent(path, 2).(*ast.CallExpr)
			isMethodCall := isCall && call.Fun == ast.Expr(p)
			if isMethodCall && p.Sel.Name == "Reset" {
				return
			}
			if isMethodCall && !isOneOf(p.Sel.Name, []string{"Flush", "Close", "ReadFrom", "Buffer", "Available", "Error", "Finish", "Sync", "End"}) {
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
			if isAmong(p.Lhs, id) {
				return
			}
		}
		hasOther = true
	})
	return hasWrite && !hasOther
}

// argumentWritesOnly reports whether the functions that a call may run write to their argument with
// an index and cannot flush it: functions of the standard library with a parameter io.Writer, and
// functions of the package that only write to it themselves.
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

// takesWriter reports whether the parameter of a function with an index is an io.Writer.
func takesWriter(fn *types.Func, index int) bool {
	params := fn.Signature().Params()
	return index < params.Len() && isNamed(params.At(index).Type(), "io", "Writer")
}
