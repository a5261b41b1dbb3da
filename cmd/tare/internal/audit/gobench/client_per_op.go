package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// clientPerOp finds connections and pools of connections that each iteration makes.
func clientPerOp() rule {
	return rule{audit.Rule{
		ID: "client-per-op", Severity: tare.Warn,
		Title:   "Each iteration makes a connection, or a client with its own.",
		Why:     "A connection takes a handshake, goroutines and buffers on both sides, which is more than most requests. Compared with a side that keeps its connection, it shows the connection.",
		Do:      "make the client once before the loop, or call the benchmark one of connecting",
		Command: loadServer,
		Seen:    []string{"tare: study users"},
	}, func(in *input) {
		in.timedLoops(func(l *loop) {
			if nameHas(l.owner.name, "dial", "conn", "open", "handshake", "client", "new", "tls", "session", "close") {
				return
			}
			in.inspectTimed(l, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					if isNamed(in.pass.TypesInfo.TypeOf(n), "net/http", "Transport") {
						in.report(n, "each iteration makes a transport, and so connections of its own")
					}
				case *ast.CallExpr:
					fn := in.callee(n)
					if (isFunc(fn, "google.golang.org/grpc", "Dial", "DialContext", "NewClient") || isFunc(fn, "database/sql", "Open") || isFunc(fn, "net", "Dial", "DialTimeout", "DialTCP") || isFunc(fn, "crypto/tls", "Dial")) && !in.isAbout(l.owner, fn) {
						in.report(n, "%s is called in each iteration, so that each makes a connection", show(n.Fun))
					}
				}
				return true
			})
		})
	}}
}
