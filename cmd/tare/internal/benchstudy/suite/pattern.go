package suite

import (
	"fmt"
	"regexp"
	"strings"
)

// splitPattern splits a -bench pattern as package testing does: at slashes and bars
// that are not in brackets. Each alternative has one expression for each part of a name.
func splitPattern(pattern string) (alternatives [][]string) {
	var parts []string
	brackets, groups, from := 0, 0, 0
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
			parts, from = append(parts, pattern[from:i]), i+1
			if pattern[i] == '|' {
				alternatives, parts = append(alternatives, parts), nil
			}
		}
	}
	return append(alternatives, append(parts, pattern[from:]))
}

// CompilePattern returns the expression of the top-level benchmarks of which a -bench pattern
// selects something. Every part of the pattern has to be valid.
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
