package gobench

import (
	"go/ast"
	"go/constant"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file has the rule parallel-latency. It finds a benchmark with RunParallel that calls its
// result a latency, the time of one operation. The result is the time divided by the operations of
// all goroutines, which is much less:
//
//	func BenchmarkGetLatency(b *testing.B) {
//		b.RunParallel(func(pb *testing.PB) {
//			for pb.Next() {
//				get(key)
//			}
//		})
//	}
//
// The rule searches the name, the comment, the texts and the metrics of the benchmark for words
// such as latency. It skips loops that measure the time of each operation themselves.

// parallelLatency returns the rule parallel-latency.
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
			if !in.claimsLatency(b) {
				continue
			}
			for _, l := range in.parallelLoops(b) {
				// A loop with time.Since or Time.Sub measures each operation itself.
				measuresItself := false
				in.inspectTimedDeep(l, func(n ast.Node, _ *frame) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						measuresItself = measuresItself || isOneOf(calledName(call), []string{"Since", "Sub"})
					}
					return !measuresItself
				})
				if !measuresItself {
					in.report(l.node, "ns/op of a parallel loop is not a latency: it is the time divided by the operations of all goroutines")
				}
			}
		}
	}}
}

// parallelLoops returns the loops over pb.Next of a benchmark, also in functions for RunParallel.
func (in *input) parallelLoops(b *benchmark) []*loop {
	var out []*loop
	add := func(loops []*loop) {
		for _, l := range loops {
			if l.kind == byNext && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	add(b.loops)
	ast.Inspect(b.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !isMethodOf(in.callee(call), "testing", "B", "RunParallel") {
			return true
		}
		for _, f := range in.flowGraph().Functions(call.Args[0], nil) {
			for _, other := range in.suite.benchmarks {
				if other.node == f.Node {
					add(other.loops)
				}
			}
		}
		return true
	})
	return out
}

// claimsLatency reports whether a benchmark calls its result the time of one operation. It may do
// so in its name, comment, texts or metrics.
func (in *input) claimsLatency(b *benchmark) bool {
	if containsWord(b.name, "throughput") {
		return false
	}
	doc := strings.Join(strings.Fields(b.decl.Doc.Text()), " ")
	if containsWord(doc, "throughput") && in.reportsMetric(b.decl, rateUnit) {
		return false
	}
	if in.mentions(b, "latency", "response time", "time per call", "time per request", "wait per") || in.reportsMetric(b.decl, waitUnit) {
		return true
	}
	for _, sentence := range strings.FieldsFunc(doc, func(r rune) bool { return r == '.' || r == ';' }) {
		at := latencyPhrase.FindStringIndex(sentence)
		if at != nil && !negation.MatchString(sentence[:at[0]]) {
			return true
		}
	}
	return false
}

var (
	// latencyPhrase matches phrases for the time of one operation.
	latencyPhrase = lazyregexp.New(`(?i)\bhow (long|fast) (a|an|each|one|every|the|it) |` + // how long a
		`\b(a|each|one|every|the) (caller|client|user|request|call) (waits|takes)\b|` + // each call takes
		`\bresponse[- ]times?\b|\bround[- ]?trip time|\bwaiting times?\b|\blatenc|` +
		`\btime (of|per|for) (a|an|each|one|every|single|call|request|query|caller|client)\b|` + // time per call
		`\b(percentile|p50|p95|p99)\b`)
	// negation matches words that deny such a phrase: "this is not the response time".
	negation = lazyregexp.New(`(?i)\b(not|no|never|instead of|rather than|unlike)\b|n't\b`)
	// rateUnit matches units of a number per second: requests/s.
	rateUnit = lazyregexp.New(`/s$`)
	// waitUnit matches units of the time of one operation, such as us/req, but not ns/op.
	waitUnit = lazyregexp.New(`(?i)^(ns|us|µs|ms|s)-to-|\b(wait|delay|latency|rtt|resp|response|p50|p90|p95|p99)\b|` +
		`^(ns|us|µs|ms|s|sec|seconds|micros|millis)[/-]` +
		`(call|req|request|caller|client|user|query|rpc|get|lookup|hit|msg|message|event)s?$`)
)

// reportsMetric reports whether a function calls ReportMetric with a unit that matches units.
func (in *input) reportsMetric(decl *ast.FuncDecl, units *lazyregexp.Regexp) bool {
	return hasNode(decl.Body, func(call *ast.CallExpr) bool {
		if calledName(call) != "ReportMetric" || len(call.Args) != 2 {
			return false
		}
		unit := in.pass.TypesInfo.Types[call.Args[1]].Value
		isText := unit != nil && unit.Kind() == constant.String
		return isText && units.MatchString(strings.ReplaceAll(constant.StringVal(unit), "_", " "))
	})
}

// mentions reports whether the name, the doc comment or a literal of a benchmark contains one of
// words.
func (in *input) mentions(b *benchmark, words ...string) bool {
	if containsWord(b.name, words...) || containsWord(b.decl.Doc.Text(), words...) {
		return true
	}
	return hasNode(b.body, func(lit *ast.BasicLit) bool {
		return containsWord(strings.ReplaceAll(lit.Value, "_", " "), words...)
	})
}
