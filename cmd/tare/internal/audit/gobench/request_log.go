package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// requestLog finds benchmarks that make a router with a middleware that logs each
// request to the terminal, themselves or in a function of the package.
func requestLog() rule {
	return rule{Rule: audit.Rule{
		ID: "request-log", Severity: tare.Warn,
		Title:   "The router logs each request.",
		Why:     "Formatting a line and writing it takes longer than routing, by what reads the output. Two published comparisons had such a logger on one side only, and put the difference down to the framework or the transport.",
		Do:      "make the router without its logger (gin.New), give both sides the same one, or discard its output and say so",
		Command: compareRouters,
		Seen:    []string{"tare: studies tiny, users"},
	}, find: func(in *input) {
		if in.setsGinWriter() {
			return
		}
		bodies := map[*types.Func]*ast.FuncDecl{}
		for _, file := range in.pass.Files {
			for _, d := range file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					if obj, ok := in.pass.TypesInfo.Defs[fn.Name].(*types.Func); ok {
						bodies[obj] = fn
					}
				}
			}
		}
		seen := map[ast.Node]bool{} // bodies read and calls reported
		for _, b := range in.suite.benchmarks {
			in.reportLoggers(b.body, bodies, seen, 0)
		}
	}}
}

// maxCallDepth limits the calls within calls that reportLoggers follows from a benchmark.
const maxCallDepth = 3

// reportLoggers reports the calls below root, the body of a function, that make a logger of
// requests. It follows calls of functions of the package, whose declarations bodies holds.
func (in *input) reportLoggers(root ast.Node, bodies map[*types.Func]*ast.FuncDecl, seen map[ast.Node]bool, depth int) {
	if seen[root] || depth > maxCallDepth {
		return
	}
	seen[root] = true
	for call := range nodesOf[*ast.CallExpr](root) {
		fn := in.callee(call)
		switch {
		case makesLogger(call, fn):
			if !seen[call] {
				seen[call] = true
				in.report(call, "%s logs each request to the terminal", formatExpr(call.Fun))
			}
		case fn != nil && bodies[fn] != nil:
			in.reportLoggers(bodies[fn].Body, bodies, seen, depth+1)
		}
	}
}

// makesLogger reports whether a call of fn makes a logger that writes to the terminal.
// Fiber's logger does so if it gets no configuration.
func makesLogger(call *ast.CallExpr, fn *types.Func) bool {
	return isFunc(fn, "github.com/gin-gonic/gin", "Default", "Logger") ||
		isFunc(fn, "github.com/labstack/echo/v4/middleware", "Logger") ||
		isFunc(fn, "github.com/gofiber/fiber/v2/middleware/logger", "New") && len(call.Args) == 0
}

// setsGinWriter reports whether the package redirects the log of Gin.
func (in *input) setsGinWriter() bool {
	for _, file := range in.pass.Files {
		if setsVariable(file, "gin.DefaultWriter") {
			return true
		}
	}
	return false
}
