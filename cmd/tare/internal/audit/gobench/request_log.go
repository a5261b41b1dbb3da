package gobench

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule request-log. It finds a benchmark whose HTTP router logs each request to
// the terminal. Writing the line takes longer than routing:
//
//	func BenchmarkRoute(b *testing.B) {
//		router := gin.Default() // with a logger; gin.New has none
//		for b.Loop() {
//			router.ServeHTTP(w, req)
//		}
//	}
//
// The rule searches the benchmark and the functions that it calls for calls that make such a
// logger. It knows those of gin, echo and fiber.

// requestLog returns the rule request-log.
func requestLog() rule {
	return rule{Rule: audit.Rule{
		ID: "request-log", Severity: tare.Warn,
		Title:   "The router logs each request.",
		Why:     "Formatting a line and writing it takes longer than routing; how much longer depends on what reads the output. Two published comparisons had such a logger on one side only, and put the difference down to the framework or the transport.",
		Do:      "make the router without its logger (gin.New), give both sides the same one, or discard its output and say so",
		Command: compareRouters,
		Seen:    []string{"tare: studies tiny, users"},
	}, find: func(in *input) {
		if in.setsGinWriter() {
			return
		}
		seen := map[ast.Node]bool{}
		for _, b := range in.suite.benchmarks {
			in.reportLoggers(b.body, seen, 0)
		}
	}}
}

// reportLoggers reports calls in root that make a logger of requests. It follows calls of functions
// of the package, and skips bodies in seen. The depth is the number of calls around root.
func (in *input) reportLoggers(root ast.Node, seen map[ast.Node]bool, depth int) {
	if seen[root] || depth > maxTimedDepth {
		return
	}
	seen[root] = true
	for call := range nodesOf[*ast.CallExpr](root) {
		fn := in.callee(call)
		if makesLogger(call, fn) {
			in.report(call, "%s logs each request to the terminal", formatExpr(call.Fun))
		} else if fn != nil {
			if body := in.flowGraph().Declared(fn).Body; body != nil {
				in.reportLoggers(body, seen, depth+1)
			}
		}
	}
}

// makesLogger reports whether a call of fn makes a logger of requests, or a router with one.
func makesLogger(call *ast.CallExpr, fn *types.Func) bool {
	return isFunc(fn, "github.com/gin-gonic/gin", "Default", "Logger") ||
		isFunc(fn, "github.com/labstack/echo/v4/middleware", "Logger") ||
		isFunc(fn, "github.com/gofiber/fiber/v2/middleware/logger", "New") && len(call.Args) == 0
}

// setsGinWriter reports whether the package redirects the log of Gin.
func (in *input) setsGinWriter() bool {
	return slices.ContainsFunc(in.pass.Files, func(file *ast.File) bool { return setsVariable(file, "gin.DefaultWriter") })
}
