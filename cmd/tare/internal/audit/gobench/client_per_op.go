package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule client-per-op. It finds a benchmark that makes a connection in each
// iteration. The handshake may take longer than the measured request:
//
//	func BenchmarkGet(b *testing.B) {
//		for b.Loop() {
//			conn, _ := net.Dial("tcp", address)
//			get(conn)
//			conn.Close()
//		}
//	}
//
// The rule searches loops that run while the timer runs for calls such as net.Dial, and for
// literals of http.Transport. It skips a benchmark whose name says that it connects, such as
// BenchmarkDial.

// clientPerOp returns the rule client-per-op.
func clientPerOp() rule {
	return rule{Rule: audit.Rule{
		ID: "client-per-op", Severity: tare.Warn,
		Title:   "Each iteration makes a connection, or a client with its own.",
		Why:     "A connection takes a handshake, goroutines and buffers on both sides, which is more than most requests. Compared with a side that keeps its connection, it shows the connection.",
		Do:      "make the client once before the loop, or call the benchmark one of connecting",
		Command: loadServer,
		Seen:    []string{"tare: study users"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			if containsWord(l.owner.name, "dial", "conn", "open", "handshake", "client", "new", "tls", "session", "close") {
				return
			}
			in.inspectTimed(l, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					if isNamed(in.pass.TypesInfo.TypeOf(n), "net/http", "Transport") {
						in.report(n, "each iteration makes a transport, and so connections of its own")
					}
				case *ast.CallExpr:
					if fn := in.callee(n); isDial(fn) && !in.mayMeasure(l.owner, fn) {
						in.report(n, "%s is called in each iteration, so that each makes a connection", formatExpr(n.Fun))
					}
				}
				return true
			})
		})
	}}
}

// isDial reports whether a function makes a connection, or a client that makes one.
func isDial(fn *types.Func) bool {
	return isFunc(fn, "google.golang.org/grpc", "Dial", "DialContext", "NewClient") ||
		isFunc(fn, "database/sql", "Open") ||
		isFunc(fn, "net", "Dial", "DialTimeout", "DialTCP") ||
		isFunc(fn, "crypto/tls", "Dial")
}
