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
	return rule{Rule: audit.Rule{
		ID: "parallel-latency", Severity: tare.Warn,
		Title:   "A parallel benchmark is called a latency.",
		Why:     "ns/op of RunParallel is the time of the benchmark divided by the operations of all goroutines: the inverse of a throughput. With eight goroutines an operation takes about eight times as long as it reports, and more if they wait for each other.",
		Do:      "call it throughput, or measure the latency at a fixed rate",
		Command: loadServer,
		Seen:    []string{"tare: study users"},
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			for _, l := range b.loops {
				if l.kind != byNext || !in.mentions(b, "latency", "response time") {
					continue
				}
				// A loop that calls time.Since or Time.Sub measures each operation itself.
				takesTimes := in.hasCall(l.body, func(name string) bool { return name == "Since" || name == "Sub" })
				if !takesTimes {
					in.report(l.node, "ns/op of a parallel loop is not a latency: it is the time divided by the operations of all goroutines")
				}
			}
		}
	}}
}

// mentions reports whether the name, the doc comment or a literal of a benchmark
// contains one of words.
func (in *input) mentions(b *benchmark, words ...string) bool {
	if containsWord(b.name, words...) || b.decl.Doc != nil && containsWord(b.decl.Doc.Text(), words...) {
		return true
	}
	for lit := range nodesOf[*ast.BasicLit](b.body) {
		if containsWord(strings.ReplaceAll(lit.Value, "_", " "), words...) {
			return true
		}
	}
	return false
}
