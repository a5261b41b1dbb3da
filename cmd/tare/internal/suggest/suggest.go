// Package suggest suggests names for a mistyped one.
package suggest

import (
	"slices"
	"strings"
)

// Names returns up to three of known that are close to got, nearest first: by edit distance, or
// because one contains the other.
func Names(got string, known []string) []string {
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	low := strings.ToLower(got)
	for _, name := range known {
		other := strings.ToLower(name)
		far := editDistance(low, other)
		part := len(low) >= 3 && strings.Contains(other, low) || len(other) >= 3 && strings.Contains(low, other)
		switch limit := max(1, min(len(low), len(other))/3); {
		case far <= limit:
			found = append(found, candidate{name, far})
		case part:
			found = append(found, candidate{name, 100 + far})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if a.far != b.far {
			return a.far - b.far
		}
		return strings.Compare(a.name, b.name)
	})
	names := []string{}
	for _, c := range found {
		if len(names) < 3 && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// Hint returns a phrase with the near names of got; without any, all known ones, or "" if there
// are too many.
func Hint(got string, known []string) string {
	names := Names(got, known)
	switch {
	case len(names) == 1:
		return "did you mean " + names[0] + "?"
	case len(names) > 1:
		return "did you mean " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1] + "?"
	case len(known) > 0 && len(known) <= 12:
		return "known: " + strings.Join(known, ", ")
	}
	return ""
}

// editDistance returns the edit distance with swaps of neighbours ("optimal string alignment"):
// the fewest insertions, deletions, replacements and swaps of two adjacent bytes that turn a
// into b.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
