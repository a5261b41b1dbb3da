package gobench

import (
	"go/ast"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule log-in-loop. It finds a benchmark that prints in each iteration. Printing
// may take longer than the measured code:
//
//	func BenchmarkParse(b *testing.B) {
//		for b.Loop() {
//			fmt.Println(parse(text))
//		}
//	}
//
// The rule searches the loop for calls that print or log. It skips those in an if statement, which
// mostly print errors. It also skips packages that redirect their output.

// logInLoop returns the rule log-in-loop.
func logInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "log-in-loop", Severity: tare.Warn,
		Title:   "The timed loop prints or logs.",
		Why:     "Each line takes microseconds, and ten times as many if it goes to a terminal instead of a file. b.Log keeps all lines in memory. The output also mixes with the lines of go test, so that tools cannot read them.",
		Do:      "check the result in place of printing it, or write to a sink that counts",
		Command: compareRevisions,
		Seen:    []string{"tare: studies tiny, users"},
	}, find: func(in *input) {
		// These packages measure printing itself.
		if isOneOf(in.pass.Pkg.Path(), []string{"fmt_test", "log", "log_test", "log/slog"}) {
			return
		}
		in.eachTimedLoop(func(l *loop) {
			inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || isConditional(path) { // as in if err != nil { fmt.Println(err) }
					return true
				}
				fn := in.callee(call)
				isPrint := isFunc(fn, "fmt", "Print", "Println", "Printf") ||
					isFunc(fn, "log", "Print", "Println", "Printf") ||
					isFunc(fn, "log/slog", "Debug", "Info", "Warn", "Error") ||
					isMethodCall(in.pass.TypesInfo, call, "testing", "B", "Log") ||
					isMethodCall(in.pass.TypesInfo, call, "testing", "B", "Logf")
				isOfLoop := l.isInnermost(call)
				if isPrint && isOfLoop && !in.redirectsOutput() {
					in.report(call, "%s writes a line in each iteration", formatExpr(call.Fun))
				}
				return true
			})
		})
	}}
}

// redirectsOutput reports whether the package redirects a log or os.Stdout, for example to
// io.Discard.
func (in *input) redirectsOutput() bool {
	for _, file := range in.pass.Files {
		if setsVariable(file, "os.Stdout") {
			return true
		}
		for call := range nodesOf[*ast.CallExpr](file) {
			if fn := in.callee(call); isFunc(fn, "log", "SetOutput") || isFunc(fn, "log/slog", "SetDefault") {
				return true
			}
		}
	}
	return false
}

// setsVariable reports whether a file assigns to a variable, such as os.Stdout.
func setsVariable(file *ast.File, text string) bool {
	for a := range nodesOf[*ast.AssignStmt](file) {
		if slices.ContainsFunc(a.Lhs, func(lhs ast.Expr) bool { return formatExpr(lhs) == text }) {
			return true
		}
	}
	return false
}
