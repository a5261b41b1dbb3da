package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule recorder-reused. It finds a benchmark in which all iterations write to one
// httptest.ResponseRecorder. The recorder stores the output of all of them, so it grows with b.N:
//
//	func BenchmarkServe(b *testing.B) {
//		rec := httptest.NewRecorder()
//		for b.Loop() {
//			handler.ServeHTTP(rec, req)
//		}
//	}
//
// The rule searches the loop for calls of ServeHTTP. It reports a recorder from before the loop,
// unless the loop uses it in a way that may reset it.

// recorderReused returns the rule recorder-reused.
func recorderReused() rule {
	return rule{Rule: audit.Rule{
		ID: "recorder-reused", Severity: tare.Warn,
		Title:   "All iterations write to one httptest.ResponseRecorder.",
		Why:     "The recorder keeps every body, so that it grows with b.N, and the status of the first request only: what fails later is not seen.",
		Do:      "take a ResponseWriter of your own that counts bytes and keeps the last status, or make a recorder in each iteration and say that it is timed too",
		Command: compareRouters,
		Seen:    []string{"tare: study routing"},
	}, find: func(in *input) {
		in.eachTimedCall(func(l *loop, call *ast.CallExpr, fn *types.Func) {
			if fn.Name() != "ServeHTTP" || len(call.Args) != 2 {
				return
			}
			v := in.variable(call.Args[0])
			if !in.isDeclaredOutside(v, l) || !in.isLocal(v) || !isNamed(v.Type(), "net/http/httptest", "ResponseRecorder") {
				return
			}
			// Other uses, such as rec.Body.Reset(), may reset the recorder.
			mayBeReset := false
			in.inspectUses(l.node, v, func(id *ast.Ident, path []ast.Node) {
				_, isArg := parent(path, 1).(*ast.CallExpr)
				sel, isSelector := parent(path, 1).(*ast.SelectorExpr)
				readsCode := isSelector && sel.Sel.Name == "Code"
				if !isArg && !readsCode {
					mayBeReset = true
				}
			})
			if !mayBeReset {
				in.report(call, "%s is one recorder for all iterations, and stores the output of each of them", v.Name())
			}
		})
	}}
}
