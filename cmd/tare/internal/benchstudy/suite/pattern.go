package suite

import (
	"fmt"
	"regexp"
	"strings"
)

// splitPattern splits a -bench pattern as package testing does: Parse/small|Open becomes [[Parse
// small] [Open]].
func splitPattern(pattern string) (alternatives [][]string) {
	var parts []string
	brackets, groups, start := 0, 0, 0 // depths of [ and (, and the start of the expression
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '[':
			brackets++
		case ']':
			brackets = max(0, brackets-1)
		case '(':
			if brackets == 0 {
				groups++
			}
		case ')':
			if brackets == 0 {
				groups--
			}
		case '\\':
			i++
		case '/', '|':
			if brackets > 0 || groups != 0 {
				continue
			}
			parts, start = append(parts, pattern[start:i]), i+1
			if pattern[i] == '|' {
				alternatives, parts = append(alternatives, parts), nil
			}
		}
	}
	return append(alternatives, append(parts, pattern[start:]))
}

// CompilePattern returns an expression for the top-level benchmarks that a -bench pattern selects.
// If the pattern is invalid, the error is a *UsageError.
func CompilePattern(pattern string) (top *regexp.Regexp, err error) {
	var firsts []string
	for _, parts := range splitPattern(pattern) {
		for _, part := range parts {
			if _, err := regexp.Compile(part); err != nil {
				return nil, &UsageError{What: fmt.Sprintf("--bench %q: %v", pattern, err)}
			}
		}
		firsts = append(firsts, "(?:"+parts[0]+")")
	}
	return regexp.Compile(strings.Join(firsts, "|"))
}
