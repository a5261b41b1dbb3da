package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// requestInLoop finds requests of httptest that are made and served in the timed
// loop.
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
			if !in.hasCall(l.body, func(name string) bool { return name == "ServeHTTP" }) {
				return
			}
			in.inspectTimed(l, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				var fn *types.Func
				if ok {
					fn = in.callee(call)
				}
				if isFunc(fn, "net/http/httptest", "NewRequest", "NewRequestWithContext") {
					in.report(call, "httptest.NewRequest is timed together with the handler")
				}
				return true
			})
		})
	}}
}
