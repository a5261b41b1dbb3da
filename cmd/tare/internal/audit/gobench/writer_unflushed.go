package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// writerUnflushed finds buffered writers that an iteration makes and writes to, or that
// are made before the loop, and that are never flushed.
func writerUnflushed() rule {
	return rule{Rule: audit.Rule{
		ID: "writer-unflushed", Severity: tare.Void,
		Title:   "A buffered writer is made in the loop and never flushed or closed.",
		Why:     "What it was given stays in its buffer: the last part is never encoded or written, and no check of the output was possible. A published comparison of JSON libraries measured such a stream.",
		Do:      "call Flush or Close in each iteration, and compare the output once with that of the other side",
		Command: compareCodecs,
		Seen:    []string{"tare: study json-encode (jsoniter's Stream)"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			in.reportOuter(l)
			inspectTimedNodes(in, l, func(a *ast.AssignStmt) {
				if a.Tok != token.DEFINE || len(a.Rhs) != 1 {
					return
				}
				call, ok := a.Rhs[0].(*ast.CallExpr)
				if !ok || !isBuffered(in.pass.TypesInfo, call) {
					return
				}
				v := in.variable(a.Lhs[0])
				if v != nil && in.writesOnly(l.body, v) {
					in.report(a, "%s is written to and never flushed or closed", v.Name())
				}
			})
		})
	}}
}

// reportOuter reports writers that are made before a loop and that nothing in the function flushes.
// Only the output of the last iterations stays in the buffer, so the findings are notes.
func (in *input) reportOuter(l *loop) {
	seen := map[*types.Var]bool{}
	inspectTimedNodes(in, l, func(id *ast.Ident) {
		v, _ := in.pass.TypesInfo.Uses[id].(*types.Var)
		if v == nil || seen[v] || !in.isOutside(v, l) || !in.isLocal(v) {
			return
		}
		seen[v] = true
		call, ok := in.initOf(l.owner.decl, v).(*ast.CallExpr)
		if ok && isBuffered(in.pass.TypesInfo, call) && in.writesOnly(l.owner.decl, v) && in.usesVariable(l, v) {
			severity := in.rule.Severity
			in.rule.Severity = tare.Note
			in.report(id, "%s is never flushed or closed: what the last iterations wrote stays in its buffer", v.Name())
			in.rule.Severity = severity
		}
	})
}

// isBuffered reports whether the first result of a call is a writer that buffers output
// until it is flushed or closed.
func isBuffered(info *types.Info, call *ast.CallExpr) bool {
	t := firstResult(info.TypeOf(call))
	for pkg, names := range bufferedWriters {
		if isNamed(t, pkg, names...) {
			return true
		}
	}
	return false
}

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

// writesOnly reports whether all uses of a writer below root write to it and cannot
// flush it: they call methods that write, or pass the writer to a function of the
// standard library that writes. It returns false if there are no uses.
func (in *input) writesOnly(root ast.Node, v *types.Var) bool {
	hasWrite, hasOther := false, false
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.SelectorExpr:
			call, isCall := parent(path, 2).(*ast.CallExpr)
			isMethodCall := isCall && call.Fun == ast.Expr(p)
			if isMethodCall && !isOneOf(p.Sel.Name, []string{"Flush", "Close", "Reset", "ReadFrom", "Buffer", "Available", "Error"}) {
				hasWrite = true
				return
			}
		case *ast.CallExpr:
			if fn := in.callee(p); isFunc(fn, "fmt") || isFunc(fn, "io", "WriteString", "Copy") || isFunc(fn, "encoding/binary", "Write") {
				hasWrite = true
				return
			}
		}
		hasOther = true
	})
	return hasWrite && !hasOther
}
