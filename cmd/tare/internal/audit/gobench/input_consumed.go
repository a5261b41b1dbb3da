package gobench

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// inputConsumed finds inputs that are made before the loop and used up by its first
// iteration: readers, requests with a body, and maps from which keys are deleted.
func inputConsumed() rule {
	return rule{Rule: audit.Rule{
		ID: "input-consumed", Severity: tare.Void,
		Title:   "The input is read in the first iteration, and the others find it empty.",
		Why:     "A reader, or a request with a body, that is made once is at its end after the first iteration. All others measure how fast nothing is read, or an error is returned.",
		Do:      "reset the reader in each iteration (Reset, Seek), or set Body again; making a small reader is cheap",
		Command: compareRevisions,
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			seen := map[*types.Var]bool{}
			in.inspectTimed(l, func(n ast.Node) bool {
				call, isCall := n.(*ast.CallExpr)
				// runtime_test measures deletions themselves.
				if isCall && isBuiltin(in.pass.TypesInfo, call, "delete") && in.pass.Pkg.Path() != "runtime_test" {
					if v := in.variable(call.Args[0]); in.isOutside(v, l) && in.isLocal(v) && !in.isFilled(l, v) {
						in.report(call, "delete removes keys from %s and nothing adds them again: only the first iteration finds them", v.Name())
					}
					return true
				}
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				v, _ := in.pass.TypesInfo.Uses[id].(*types.Var)
				if !in.isOutside(v, l) || !in.isLocal(v) || seen[v] {
					return true
				}
				seen[v] = true
				description := in.describeInput(l, v)
				if description != "" && in.isConsumed(l, v) {
					in.report(id, "%s is %s before the loop, and nothing renews it: only the first iteration reads it", v.Name(), description)
				}
				return true
			})
		})
	}}
}

// describeInput describes a variable whose initial value can be read only once, such as
// "a reader made". It returns "" for other variables, and for those that depend on b.N.
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

// isConsumableBody reports whether an argument of NewRequest is a body that can be read only once:
// the result of a call, or a variable that describeInput knows and that the loop does not renew.
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
	return in.isConsumed(l, v) || !in.usesVariable(l, v)
}

// isFilled reports whether a map may get keys: a loop uses it other than by delete and
// len, another loop of the benchmark uses it, or it was made for b.N iterations.
func (in *input) isFilled(l *loop, v *types.Var) bool {
	filled := l.owner.sized[v]
	for _, other := range l.owner.loops {
		filled = filled || other != l && in.usesVariable(other, v)
	}
	in.inspectUses(l.node, v, func(_ *ast.Ident, path []ast.Node) {
		call, isCall := parent(path, 1).(*ast.CallExpr)
		if !isCall || !isBuiltin(in.pass.TypesInfo, call, "delete") && !isBuiltin(in.pass.TypesInfo, call, "len") {
			filled = true
		}
	})
	return filled
}

// isMemoryReader reports whether an expression is a bytes.Reader or strings.Reader, or a
// variable declared as one that the loop does not use by itself.
func (in *input) isMemoryReader(l *loop, e ast.Expr) bool {
	if v := in.variable(e); v != nil && in.isLocal(v) {
		if in.usesVariable(l, v) {
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

// usesVariable reports whether a loop uses a variable.
func (in *input) usesVariable(l *loop, v *types.Var) bool {
	found := false
	in.inspectUses(l.node, v, func(*ast.Ident, []ast.Node) { found = true })
	return found
}

// isConsumed reports whether a loop reads a variable to its end, by a call that gets it
// as an argument or by one of its methods, and does nothing that may renew it. An
// unknown use may renew it.
func (in *input) isConsumed(l *loop, v *types.Var) bool {
	consumed, mayBeRenewed := false, false
	in.inspectUses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.CallExpr:
			for i, a := range p.Args {
				switch {
				case a != ast.Expr(id):
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
				// These methods neither read nor renew the input.
			case !isCall && isOneOf(name, []string{"URL", "Header", "Method", "Host", "RemoteAddr", "RequestURI"}):
				// Fields of a request other than its body.
			default:
				mayBeRenewed = true
			}
		default:
			mayBeRenewed = true
		}
	})
	return consumed && !mayBeRenewed
}

// readsArgument reports whether a call is known to read its argument with index arg, a
// reader or a request, to the end.
func (in *input) readsArgument(call *ast.CallExpr, arg int) bool {
	fn := in.callee(call)
	switch {
	case fn == nil:
		return false
	case isFunc(fn, "io", "ReadAll"), isFunc(fn, "io/ioutil", "ReadAll"), isFunc(fn, "io", "Copy") && arg == 1, isFunc(fn, "io", "ReadFull") && arg == 0:
		return true
	case isFunc(fn, "encoding/json", "NewDecoder"), isFunc(fn, "encoding/xml", "NewDecoder"), isFunc(fn, "encoding/csv", "NewReader"),
		isFunc(fn, "compress/gzip", "NewReader"), isFunc(fn, "compress/zlib", "NewReader"), isFunc(fn, "bufio", "NewScanner", "NewReader"),
		isFunc(fn, "image/png", "Decode"), isFunc(fn, "image/jpeg", "Decode"), isFunc(fn, "image", "Decode"):
		return true
	}
	isMethod := fn.Signature().Recv() != nil
	if isMethod && (fn.Name() == "ServeHTTP" && arg == 1 || fn.Name() == "Do" && strings.HasPrefix(fn.Pkg().Path(), "net/http")) {
		return true
	}
	// A function with an io.Reader reads all of it, or a part each time until nothing is left.
	params := fn.Signature().Params()
	return arg < params.Len() && isNamed(params.At(arg).Type(), "io", "Reader")
}
