package gobench

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule unclear-ignore. It finds a comment that should switch a rule off and has
// no effect. The comment names no known rule, or gives no reason:
//
//	func BenchmarkRetry(b *testing.B) {
//		for b.Loop() {
//			time.Sleep(d) //tare:ignore sleep-in-loop
//		}
//	}
//
// The comments were read by readIgnores in suite.go. This rule only reports those with an error.

// unclearIgnore returns the rule unclear-ignore.
func unclearIgnore() rule {
	return rule{Rule: audit.Rule{
		ID: "unclear-ignore", Severity: tare.Warn,
		Title:   "A tare:ignore comment names no rule, or gives no reason.",
		Why:     "It switches nothing off. Who reads it later cannot tell whether its reason still holds.",
		Do:      "write //tare:ignore RULE reason, on the line or the one before, or in the comment of the function",
		Command: "tare audit --rules",
	}, find: func(in *input) {
		for _, u := range in.suite.unclear {
			in.report(u.comment, "%s", u.err)
		}
	}}
}
