package gobench

import (
	"go/ast"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// parallelLatency finds benchmarks with RunParallel that call their figure a
// latency.
func parallelLatency() rule {
	return rule{audit.Rule{
		ID: "parallel-latency", Severity: tare.Warn,
		Title:   "A parallel benchmark is called a latency.",
		Why:     "ns/op of RunParallel is the time of the whole benchmark divided by the operations of all goroutines: the inverse of a throughput. With eight goroutines an operation takes about eight times as long as it says, and more if they wait for each other.",
		Do:      "call it throughput, or measure the latency at a fixed rate",
		Command: loadServer,
		Seen:    []string{"tare: study users"},
	}, func(in *input) {
		for _, b := range in.suite.benchmarks {
			for _, l := range b.loops {
				if l.kind == byNext && in.speaksOf(b, "latency", "response time") && !in.calls(l.body, func(name string) bool { return name == "Since" || name == "Sub" }) {
					in.report(l.node, "ns/op of a parallel loop is not a latency: it is the time divided by the operations of all goroutines")
				}
			}
		}
	}}
}

// speaksOf reports whether the name or the comment of a benchmark, or a text in
// it, contains one of words.
func (in *input) speaksOf(b *benchmark, words ...string) bool {
	if nameHas(b.name, words...) || b.decl.Doc != nil && nameHas(b.decl.Doc.Text(), words...) {
		return true
	}
	found := false
	ast.Inspect(b.body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && nameHas(strings.ReplaceAll(lit.Value, "_", " "), words...) {
			found = true
		}
		return !found
	})
	return found
}
