package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule request-in-loop. It finds a benchmark that makes an HTTP request in each
// iteration and serves it. Making the request may take longer than serving it:
//
//	func BenchmarkServe(b *testing.B) {
//		for b.Loop() {
//			handler.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
//		}
//	}
//
// The rule searches loops that call ServeHTTP for calls of httptest.NewRequest.

// requestInLoop returns the rule request-in-loop.
func requestInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "request-in-loop", Severity: tare.Note,
		Title:   "Making the request is timed with serving it.",
		Why:     "httptest.NewRequest writes the request as text and parses it: some 10 allocations and a microsecond or more, which a router does not take. Ratios between handlers look smaller than they are, and allocs/op is mostly that of the test.",
		Do:      "make the request before the loop; if it has a body, reset its reader and set Body in each iteration",
		Command: compareRouters,
		Seen:    []string{"tare: study routing"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			if !hasCall(l.body, func(name string) bool { return name == "ServeHTTP" }) {
				return
			}
			inspectTimedNodes(in, l, func(call *ast.CallExpr) {
				if isFunc(in.callee(call), "net/http/httptest", "NewRequest", "NewRequestWithContext") {
					in.report(call, "httptest.NewRequest is timed together with the handler")
				}
			})
		})
	}}
}
