package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule check-timed. It finds a benchmark that compares results by reflection
// while its timer runs. The comparison may take longer than the measured code:
//
//	func BenchmarkParse(b *testing.B) {
//		for b.Loop() {
//			require.Equal(b, want, parse(text))
//		}
//	}
//
// The rule searches loops that run while the timer runs for calls of reflect.DeepEqual, go-cmp and
// the assertions of testify.

// checkTimed returns the rule check-timed.
func checkTimed() rule {
	return rule{Rule: audit.Rule{
		ID: "check-timed", Severity: tare.Warn,
		Title:   "The timed loop compares results by reflection.",
		Why:     "reflect.DeepEqual and the assertions of testify take hundreds of nanoseconds and allocate. ns/op and allocs/op are then those of the comparison, and a faster function shows as a smaller difference than it makes.",
		Do:      "compare once before the loop, and check something cheap in it, e.g. a length",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/prometheus/common/blob/v0.67.5/model/signature_test.go#L194"},
	}, find: func(in *input) {
		in.eachTimedCall(func(l *loop, call *ast.CallExpr, fn *types.Func) {
			if isComparison(fn) && !in.mayMeasure(l.owner, fn) {
				in.report(call, "%s is timed together with the operation that it checks", formatExpr(call.Fun))
			}
		})
	}}
}

// isComparison reports whether a function compares values by reflection.
func isComparison(fn *types.Func) bool {
	if isFunc(fn, "reflect", "DeepEqual") || isFunc(fn, "github.com/google/go-cmp/cmp", "Equal", "Diff") {
		return true
	}
	if fn.Pkg() == nil || !isOneOf(fn.Pkg().Path(), []string{"github.com/stretchr/testify/assert", "github.com/stretchr/testify/require"}) {
		return false
	}
	return isOneOf(fn.Name(), []string{"Equal", "Equalf", "EqualValues", "NotEqual", "JSONEq", "ElementsMatch", "Contains", "Len", "Exactly", "Subset"})
}
