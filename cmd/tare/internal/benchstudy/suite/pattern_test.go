package suite

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A pattern is split as package testing splits it, and every part of it is checked.
func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		parts   [][]string
		matches string // complete benchmarks, of A, AB and C
	}{
		{".", [][]string{{"."}}, "A AB C"},
		{"^A$/x|C", [][]string{{"^A$", "x"}, {"C"}}, "A C"},
		{"(A/x)|C", [][]string{{"(A/x)"}, {"C"}}, "C"},
		{"A[/|]/x", [][]string{{"A[/|]", "x"}}, ""},
		{`A\/x|^AB`, [][]string{{`A\/x`}, {"^AB"}}, "AB"},
		{"/x", [][]string{{"", "x"}}, "A AB C"},
	} {
		if got := splitPattern(tt.pattern); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.parts) {
			t.Errorf("%s is split into %q, want %q", tt.pattern, got, tt.parts)
		}
		top, err := CompilePattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		var matches []string
		for _, name := range []string{"A", "AB", "C"} {
			if top.MatchString(name) {
				matches = append(matches, name)
			}
		}
		if got := strings.Join(matches, " "); got != tt.matches {
			t.Errorf("%s matches %q, want %q", tt.pattern, got, tt.matches)
		}
	}
	for _, pattern := range []string{"(", "A/[b", "A|C/*", `A/x{2/3}\`} {
		var usage *UsageError
		if _, err := CompilePattern(pattern); !errors.As(err, &usage) || !strings.Contains(err.Error(), "--bench") {
			t.Errorf("%s: %v, want a usage error", pattern, err)
		}
	}
}
