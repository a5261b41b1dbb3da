package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule input-consumed. It finds a benchmark whose first iteration uses up the
// input. The other iterations measure how fast nothing is read:
//
//	func BenchmarkParse(b *testing.B) {
//		r := strings.NewReader(text)
//		for b.Loop() {
//			parse(r) // at the end of r from the second iteration on
//		}
//	}
//
// The rule knows calls that make a reader, and calls that read one to the end. It reports a reader
// from before the loop that the loop reads and does not renew. The files input_drained.go and
// input_removed.go find queues and stores that the loop empties. A frame is the body that is
// searched: the loop, or a function of the test files that the loop calls.

// inputConsumed returns the rule input-consumed.
func inputConsumed() rule {
	return rule{Rule: audit.Rule{
		ID: "input-consumed", Severity: tare.Void,
		Title:   "The input is read in the first iteration, and the others find it empty.",
		Why:     "A reader, or a request with a body, that is made once is at its end after the first iteration. All others measure how fast nothing is read, or an error is returned. A store from which the loop deletes keys is empty after as many iterations as it had keys.",
		Do:      "reset the reader in each iteration (Reset, Seek), or set Body again; put back what is deleted; making a small reader is cheap",
		Command: compareRevisions,
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					in.reportRemoved(l, call, f)
				}
				return true
			})
			seen := map[*types.Var]bool{}
			in.inspectTimed(l, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					in.reportDeleted(l, n)
					in.reportDrained(l, n)
					in.reportCompacted(l, n)
				case *ast.Ident:
					v, _ := in.pass.TypesInfo.Uses[n].(*types.Var)
					if !in.isDeclaredOutside(v, l) || !in.isLocal(v) || seen[v] {
						break
					}
					seen[v] = true
					if description := in.describeInput(l, v); description != "" && in.isConsumed(l, v) {
						in.report(n, "%s is %s before the loop, and nothing renews it: only the first iteration reads it", v.Name(), description)
					} else {
						seen[v] = description != ""
					}
				}
				return true
			})
			in.reportEnded(l, seen)
		})
	}}
}

// reportDeleted reports a call of the builtin delete if nothing adds keys to the map.
func (in *input) reportDeleted(l *loop, call *ast.CallExpr) {
	measuresMaps := in.pass.Pkg.Path() == "runtime_test" // Go's own tests of maps
	if measuresMaps || !isBuiltin(in.pass.TypesInfo, call, "delete") {
		return
	}
	if v := in.variable(call.Args[0]); in.isDeclaredOutside(v, l) && in.isLocal(v) && !in.getsKeys(l, v) {
		in.report(call, "delete removes keys from %s and nothing adds them again: only the first iteration finds them", v.Name())
	}
}

// reportCompacted reports a call such as q.dropExpired() if it is the only use of q in the loop.
func (in *input) reportCompacted(l *loop, call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	v, fn := in.variable(sel.X), in.callee(call)
	if fn == nil || !in.isDeclaredOutside(v, l) || !in.isLocal(v) || !in.compacts(fn) {
		return
	}
	uses := 0
	in.inspectUses(l.node, v, func(*ast.Ident, []ast.Node) { uses++ })
	if uses == 1 {
		in.report(call, "%s drops entries of %s, and nothing adds them again: only the first iteration finds them", formatExpr(call.Fun), v.Name())
	}
}

// compacts reports whether a method drops entries of a slice of its receiver in place:
//
//	kept := r.s[:0]
//	for … { if expired(e) { continue }; kept = append(kept, e) }
//	r.s = kept
func (in *input) compacts(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	var kept *types.Var
	sliceFields := ""             // ".s"
	skips, stores := false, false // whether it has continue and r.s = kept
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
				return true
			}
			s, isSlice := n.Rhs[0].(*ast.SliceExpr)
			target, isReceiver := in.receiverPath(n.Lhs[0], recv)
			switch {
			case isSlice && s.High != nil && formatExpr(s.High) == "0":
				if fields, ok := in.receiverPath(s.X, recv); ok && fields != "" {
					kept, sliceFields = in.variable(n.Lhs[0]), fields
				}
			case kept != nil && isReceiver && target == sliceFields:
				stores = stores || in.variable(n.Rhs[0]) == kept
			}
		case *ast.BranchStmt:
			skips = skips || n.Tok == token.CONTINUE
		}
		return true
	})
	return kept != nil && skips && stores
}

// describeInput describes the initial value of v if it can be read only once, else it returns "".
// The text is part of a finding: "v is a reader made before the loop".
func (in *input) describeInput(l *loop, v *types.Var) string {
	call, ok := in.initOf(l.owner.decl, v).(*ast.CallExpr)
	if !ok || l.owner.dependsOnN(in.pass.TypesInfo, call) {
		return ""
	}
	fn := in.callee(call)
	switch {
	case isFunc(fn, "bytes", "NewReader", "NewBuffer", "NewBufferString"), isFunc(fn, "strings", "NewReader"):
		return "a reader made"
	case isFunc(fn, "encoding/json", "NewDecoder"), isFunc(fn, "encoding/xml", "NewDecoder"), isFunc(fn, "encoding/gob", "NewDecoder"),
		isFunc(fn, "encoding/csv", "NewReader"), isFunc(fn, "bufio", "NewScanner", "NewReader"):
		if in.isMemoryReader(l, call.Args[0]) {
			return "made of a reader"
		}
	case isFunc(fn, "net/http", "NewRequest", "NewRequestWithContext"), isFunc(fn, "net/http/httptest", "NewRequest", "NewRequestWithContext"):
		if in.isConsumableBody(l, call.Args[len(call.Args)-1]) {
			return "a request with a body made"
		}
	}
	return ""
}

// isConsumableBody reports whether an argument of NewRequest can be read only once.
func (in *input) isConsumableBody(l *loop, body ast.Expr) bool {
	if in.pass.TypesInfo.Types[body].IsNil() || formatExpr(body) == "http.NoBody" {
		return false
	}
	v := in.variable(body)
	if !in.isLocal(v) {
		_, isCall := body.(*ast.CallExpr)
		return isCall
	}
	if in.describeInput(l, v) == "" {
		return false
	}
	return in.isConsumed(l, v) || !in.usesVariable(l.node, v)
}

// getsKeys reports whether the map v may get keys in the loop, or has b.N of them.
func (in *input) getsKeys(l *loop, v *types.Var) bool {
	mayGet := l.owner.sizedByN[v]
	for _, other := range l.owner.loops {
		mayGet = mayGet || other != l && in.usesVariable(other.node, v)
	}
	in.inspectUses(l.node, v, func(_ *ast.Ident, path []ast.Node) {
		call, isCall := parent(path, 1).(*ast.CallExpr)
		if !isCall || !isBuiltin(in.pass.TypesInfo, call, "delete") && !isBuiltin(in.pass.TypesInfo, call, "len") {
			mayGet = true
		}
	})
	return mayGet
}

// isMemoryReader reports whether e is a new bytes.Reader or strings.Reader. It may be a variable
// that the loop does not use.
func (in *input) isMemoryReader(l *loop, e ast.Expr) bool {
	if v := in.variable(e); v != nil && in.isLocal(v) {
		if in.usesVariable(l.node, v) {
			return false
		}
		e = in.initOf(l.owner.decl, v)
	}
	call, ok := e.(*ast.CallExpr)
	if !ok || l.owner.dependsOnN(in.pass.TypesInfo, call) {
		return false
	}
	fn := in.callee(call)
	return isFunc(fn, "bytes", "NewReader") || isFunc(fn, "strings", "NewReader")
}

// isConsumed reports whether a loop reads v to its end and does not renew it. A use of v that the
// rule does not know may renew it.
func (in *input) isConsumed(l *loop, v *types.Var) bool {
	consumed, mayBeRenewed := false, false
	in.inspectUses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.CallExpr:
			for i, a := range p.Args {
				switch {
				case a != ast.Expr(id): // another argument
				case in.readsArgument(p, i):
					consumed = true
				default:
					mayBeRenewed = true
				}
			}
		case *ast.SelectorExpr:
			call, isCall := parent(path, 2).(*ast.CallExpr)
			isMethodCall := isCall && call.Fun == ast.Expr(p)
			switch name := p.Sel.Name; {
			case isMethodCall && isOneOf(name, []string{"WriteTo", "ReadByte", "ReadRune", "ReadString", "ReadBytes", "ReadAll", "Scan", "Decode"}):
				consumed = true
			case isMethodCall && isOneOf(name, []string{"Len", "Size", "Context", "Method", "Header", "Bytes", "Text", "Err", "More", "String", "Cap", "Available"}):
				// They neither read nor renew the input.
			case !isCall && isOneOf(name, []string{"URL", "Header", "Method", "Host", "RemoteAddr", "RequestURI"}):
				// Other fields of a request.
			default:
				mayBeRenewed = true
			}
		default:
			mayBeRenewed = true
		}
	})
	return consumed && !mayBeRenewed
}

// readsArgument reports whether a call reads the argument with the given index to the end.
func (in *input) readsArgument(call *ast.CallExpr, index int) bool {
	fn := in.callee(call)
	switch {
	case fn == nil:
		return false
	case isFunc(fn, "io", "ReadAll"), isFunc(fn, "io/ioutil", "ReadAll"), isFunc(fn, "io", "Copy") && index == 1, isFunc(fn, "io", "ReadFull") && index == 0:
		return true
	case isFunc(fn, "encoding/json", "NewDecoder"), isFunc(fn, "encoding/xml", "NewDecoder"), isFunc(fn, "encoding/csv", "NewReader"),
		isFunc(fn, "compress/gzip", "NewReader"), isFunc(fn, "compress/zlib", "NewReader"), isFunc(fn, "bufio", "NewScanner", "NewReader"),
		isFunc(fn, "image/png", "Decode"), isFunc(fn, "image/jpeg", "Decode"), isFunc(fn, "image", "Decode"):
		return true
	}
	servesRequest := fn.Name() == "ServeHTTP" && index == 1
	if fn.Signature().Recv() != nil && (servesRequest || fn.Name() == "Do" && strings.HasPrefix(fn.Pkg().Path(), "net/http")) {
		return true
	}
	// Functions with a parameter io.Reader mostly read to the end, sooner or later.
	params := fn.Signature().Params()
	return index < params.Len() && isNamed(params.At(index).Type(), "io", "Reader")
}
