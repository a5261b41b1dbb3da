package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// recorderReused finds a httptest.ResponseRecorder that all iterations write to.
func recorderReused() rule {
	return rule{audit.Rule{
		ID: "recorder-reused", Severity: tare.Warn,
		Title:   "All iterations write to one httptest.ResponseRecorder.",
		Why:     "The recorder keeps every body, so that it grows with b.N, and the status of the first request only: what fails later is not seen.",
		Do:      "take a ResponseWriter of your own that counts bytes and keeps the last status, or make a recorder in each iteration and say that it is timed too",
		Command: compareRouters,
		Seen:    []string{"tare: study routing"},
	}, func(in *input) {
		in.timedCalls(func(l *loop, call *ast.CallExpr, fn *types.Func) {
			if fn.Name() != "ServeHTTP" || len(call.Args) != 2 {
				return
			}
			v := in.variable(call.Args[0])
			if v == nil || !in.isOutside(v, l) || !in.isLocal(v) || !isNamed(v.Type(), "net/http/httptest", "ResponseRecorder") {
				return
			}
			renewed := false
			in.uses(l.node, v, func(id *ast.Ident, path []ast.Node) {
				_, isArg := parent(path, 1).(*ast.CallExpr)
				sel, ok := parent(path, 1).(*ast.SelectorExpr)
				renewed = renewed || !isArg && (!ok || sel.Sel.Name != "Code")
			})
			if !renewed {
				in.report(call, "%s is one recorder for all iterations, and keeps what each of them writes", v.Name())
			}
		})
	}}
}
