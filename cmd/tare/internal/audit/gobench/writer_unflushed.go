package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// writerUnflushed finds writers with a buffer that an iteration makes, writes to
// and never flushes.
func writerUnflushed() rule {
	return rule{audit.Rule{
		ID: "writer-unflushed", Severity: tare.Void,
		Title:   "A buffered writer is made in the loop and never flushed or closed.",
		Why:     "What it was given stays in its buffer: the last part is never encoded or written, and no check of the output was possible. A published comparison of JSON libraries measured such a stream.",
		Do:      "call Flush or Close in each iteration, and compare the output once with that of the other side",
		Command: compareCodecs,
		Seen:    []string{"tare: study json-encode (jsoniter's Stream)"},
	}, func(in *input) {
		in.timedLoops(func(l *loop) {
			in.reportOuter(l)
			in.inspectTimed(l, func(n ast.Node) bool {
				a, ok := n.(*ast.AssignStmt)
				if !ok || a.Tok != token.DEFINE || len(a.Rhs) != 1 {
					return true
				}
				call, ok := a.Rhs[0].(*ast.CallExpr)
				if !ok || !isBuffered(in.pass.TypesInfo, call) {
					return true
				}
				v := in.variable(a.Lhs[0])
				if v != nil && in.writesOnly(l.body, v) {
					in.report(n, "%s is written to and never flushed or closed", v.Name())
				}
				return true
			})
		})
	}}
}

// reportOuter reports writers that are made before a loop, if nothing in the whole
// function flushes them. What the loop wrote last stays in their buffers.
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
		if ok && isBuffered(in.pass.TypesInfo, call) && in.writesOnly(l.owner.decl, v) && in.usedIn(l, v) {
			f := in.rule.Severity
			in.rule.Severity = tare.Note
			in.report(id, "%s is never flushed or closed: what the last iterations wrote stays in its buffer", v.Name())
			in.rule.Severity = f
		}
		return true
	})
}

// isBuffered reports whether a call returns, alone or first, a writer that holds
// back output until it is flushed or closed.
func isBuffered(info *types.Info, call *ast.CallExpr) bool {
	t := info.TypeOf(call)
	if tuple, ok := t.(*types.Tuple); ok {
		if tuple.Len() == 0 {
			return false
		}
		t = tuple.At(0).Type()
	}
	for pkg, names := range map[string][]string{
		"bufio": {"Writer", "ReadWriter"}, "compress/gzip": {"Writer"}, "compress/zlib": {"Writer"}, "compress/flate": {"Writer"},
		"compress/lzw": {"Writer"}, "encoding/csv": {"Writer"}, "text/tabwriter": {"Writer"}, "archive/zip": {"Writer"}, "archive/tar": {"Writer"},
		"mime/multipart": {"Writer"}, "github.com/json-iterator/go": {"Stream"}, "github.com/klauspost/compress/zstd": {"Encoder"},
		"github.com/klauspost/compress/gzip": {"Writer"}, "github.com/golang/snappy": {"Writer"}, "github.com/pierrec/lz4/v4": {"Writer"}, "github.com/andybalholm/brotli": {"Writer"},
	} {
		if isNamed(t, pkg, names...) {
			return true
		}
	}
	return false
}

// writesOnly reports whether what is below root uses a writer in ways that cannot flush it: it
// calls methods that write, or hands it to a function of the standard library that
// writes.
func (in *input) writesOnly(root ast.Node, v *types.Var) bool {
	written, other := false, false
	in.uses(root, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.SelectorExpr:
			if call, ok := parent(path, 2).(*ast.CallExpr); ok && call.Fun == ast.Expr(p) && !hasName(p.Sel.Name, []string{"Flush", "Close", "Reset", "ReadFrom", "Buffer", "Available", "Error"}) {
				written = true
				return
			}
		case *ast.CallExpr:
			if fn := in.callee(p); isFunc(fn, "fmt") || isFunc(fn, "io", "WriteString", "Copy") || isFunc(fn, "encoding/binary", "Write") {
				written = true
				return
			}
		}
		other = true
	})
	return written && !other
}
