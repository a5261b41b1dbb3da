package gobench

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// inputConsumed finds readers and requests with a body that are made before the
// loop and read in it: all iterations but the first find nothing.
func inputConsumed() rule {
	return rule{audit.Rule{
		ID: "input-consumed", Severity: tare.Void,
		Title:   "The input is read in the first iteration, and the others find it empty.",
		Why:     "A reader, or a request with a body, that is made once is at its end after the first iteration. All others measure how fast nothing is read, or an error is returned.",
		Do:      "reset the reader in each iteration (Reset, Seek), or set Body anew; making a small reader is cheap",
		Command: compareRevisions,
	}, func(in *input) {
		in.timedLoops(func(l *loop) {
			seen := map[*types.Var]bool{}
			in.inspectTimed(l, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && isBuiltin(in.pass.TypesInfo, call, "delete") && in.pass.Pkg.Path() != "runtime_test" {
					if v := in.variable(call.Args[0]); v != nil && in.isOutside(v, l) && in.isLocal(v) && !in.isFilled(l, v) {
						in.report(call, "nothing puts into %s what delete takes out: the other iterations find it gone", v.Name())
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
				what := in.consumable(l, v)
				if what != "" && in.isConsumed(l, v) {
					in.report(id, "%s is %s before the loop, and nothing renews it: only the first iteration reads it", v.Name(), what)
				}
				return true
			})
		})
	}}
}

// consumable returns what a variable is if it is made, before a loop, of an input
// that can be read once, else "".
func (in *input) consumable(l *loop, v *types.Var) string {
	call, ok := in.initOf(l.owner.decl, v).(*ast.CallExpr)
	if !ok || l.owner.isOfN(in.pass.TypesInfo, call) {
		return ""
	}
	fn := in.callee(call)
	switch {
	case isFunc(fn, "bytes", "NewReader", "NewBuffer", "NewBufferString"), isFunc(fn, "strings", "NewReader"):
		return "a reader made"
	case isFunc(fn, "encoding/json", "NewDecoder"), isFunc(fn, "encoding/xml", "NewDecoder"), isFunc(fn, "encoding/gob", "NewDecoder"), isFunc(fn, "encoding/csv", "NewReader"), isFunc(fn, "bufio", "NewScanner", "NewReader"):
		if in.isMemory(l, call.Args[0]) {
			return "made of a reader"
		}
	case isFunc(fn, "net/http", "NewRequest", "NewRequestWithContext"), isFunc(fn, "net/http/httptest", "NewRequest", "NewRequestWithContext"):
		body := call.Args[len(call.Args)-1]
		if in.pass.TypesInfo.Types[body].IsNil() || show(body) == "http.NoBody" {
			return ""
		}
		if v := in.variable(body); v != nil && in.isLocal(v) {
			if inner, ok := in.initOf(l.owner.decl, v).(*ast.CallExpr); !ok || in.consumable(l, v) == "" || l.owner.isOfN(in.pass.TypesInfo, inner) {
				return ""
			}
			if !in.isConsumed(l, v) && in.usedIn(l, v) {
				return ""
			}
		} else if _, ok := body.(*ast.CallExpr); !ok {
			return ""
		}
		return "a request with a body made"
	}
	return ""
}

// isFilled reports whether a loop does anything with a map besides delete, len and
// reading, or the map was made for b.N iterations.
func (in *input) isFilled(l *loop, v *types.Var) bool {
	filled := l.owner.sized[v]
	for _, other := range l.owner.loops {
		filled = filled || other != l && in.usedIn(other, v)
	}
	in.uses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		call, ok := parent(path, 1).(*ast.CallExpr)
		filled = filled || !ok || !isBuiltin(in.pass.TypesInfo, call, "delete") && !isBuiltin(in.pass.TypesInfo, call, "len")
	})
	return filled
}

// isMemory reports whether an expression is, or is made as, a reader of bytes or of
// a text, that the loop does not use by itself.
func (in *input) isMemory(l *loop, e ast.Expr) bool {
	if v := in.variable(e); v != nil && in.isLocal(v) {
		if in.usedIn(l, v) {
			return false
		}
		e = in.initOf(l.owner.decl, v)
	}
	call, ok := e.(*ast.CallExpr)
	if !ok || l.owner.isOfN(in.pass.TypesInfo, call) {
		return false
	}
	fn := in.callee(call)
	return isFunc(fn, "bytes", "NewReader") || isFunc(fn, "strings", "NewReader")
}

// usedIn reports whether a loop uses a variable.
func (in *input) usedIn(l *loop, v *types.Var) bool {
	used := false
	in.uses(l.node, v, func(*ast.Ident, []ast.Node) { used = true })
	return used
}

// isConsumed reports whether a loop reads a variable to its end and does nothing
// that may renew it: reads are calls that get it as an argument or are methods
// that read everything.
func (in *input) isConsumed(l *loop, v *types.Var) bool {
	consumed, renewed := false, false
	in.uses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.CallExpr:
			for i, a := range p.Args {
				if a == ast.Expr(id) {
					switch in.takes(p, i) {
					case "all":
						consumed = true
					case "unknown":
						renewed = true
					}
				}
			}
		case *ast.SelectorExpr:
			call, isCall := parent(path, 2).(*ast.CallExpr)
			switch name := p.Sel.Name; {
			case isCall && call.Fun == ast.Expr(p) && hasName(name, []string{"WriteTo", "ReadByte", "ReadRune", "ReadString", "ReadBytes", "ReadAll", "Scan", "Decode"}):
				consumed = true
			case isCall && call.Fun == ast.Expr(p) && (hasName(name, []string{"Len", "Size", "Context", "Method", "Header", "Bytes", "Text", "Err", "More", "String", "Cap", "Available"})):
			case !isCall && hasName(name, []string{"URL", "Header", "Method", "Host", "RemoteAddr", "RequestURI"}):
			default:
				renewed = true
			}
		default:
			renewed = true
		}
	})
	return consumed && !renewed
}

// takes returns what a call does with a reader or a request: "all" if it reads it
// to the end, "unknown" if that cannot be told.
func (in *input) takes(call *ast.CallExpr, arg int) string {
	fn := in.callee(call)
	switch {
	case isFunc(fn, "io", "ReadAll"), isFunc(fn, "io/ioutil", "ReadAll"), isFunc(fn, "io", "Copy") && arg == 1, isFunc(fn, "io", "ReadFull") && arg == 0:
		return "all"
	case isFunc(fn, "encoding/json", "NewDecoder"), isFunc(fn, "encoding/xml", "NewDecoder"), isFunc(fn, "encoding/csv", "NewReader"),
		isFunc(fn, "compress/gzip", "NewReader"), isFunc(fn, "compress/zlib", "NewReader"), isFunc(fn, "bufio", "NewScanner", "NewReader"), isFunc(fn, "image/png", "Decode"), isFunc(fn, "image/jpeg", "Decode"), isFunc(fn, "image", "Decode"):
		return "all"
	case fn != nil && fn.Signature().Recv() != nil && (fn.Name() == "ServeHTTP" && arg == 1 || fn.Name() == "Do" && strings.HasPrefix(fn.Pkg().Path(), "net/http")):
		return "all"
	case fn != nil && arg < fn.Signature().Params().Len() && isNamed(fn.Signature().Params().At(arg).Type(), "io", "Reader"):
		return "all" // or a part, until nothing is left
	}
	return "unknown"
}
