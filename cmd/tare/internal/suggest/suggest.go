// Package suggest suggests names for a mistyped one.
package suggest

import (
	"slices"
	"strings"
)

// Names returns up to three of the known names that are similar to got, the nearest first. A name is
// similar if at most a third of its letters must be changed, or if one of the two contains the other.
func Names(got string, known []string) []string {
	const minContained = 3        // letters of a name that the other name contains
	const containedDistance = 100 // added, so that these names come after names with few changes
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	lowerGot := strings.ToLower(got)
	for _, name := range known {
		lowerName := strings.ToLower(name)
		distance := editDistance(lowerGot, lowerName)
		isContained := len(lowerGot) >= minContained && strings.Contains(lowerName, lowerGot)
		contains := len(lowerName) >= minContained && strings.Contains(lowerGot, lowerName)
		switch limit := max(1, min(len(lowerGot), len(lowerName))/3); {
		case distance <= limit:
			found = append(found, candidate{name, distance})
		case isContained || contains:
			found = append(found, candidate{name, containedDistance + distance})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if a.distance != b.distance {
			return a.distance - b.distance
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

// Hint returns a question with the known names that are similar to got. If there are none, it returns
// a list of all known names, or "" if they are too many for a line.
func Hint(got string, known []string) string {
	const maxListed = 12 // names
	names := Names(got, known)
	switch {
	case len(names) == 1:
		return "did you mean " + names[0] + "?"
	case len(names) > 1:
		return "did you mean " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1] + "?"
	case len(known) > 0 && len(known) <= maxListed:
		return "known: " + strings.Join(known, ", ")
	}
	return ""
}

// editDistance returns the edit distance with swaps of neighbours ("optimal string alignment"):
// the fewest insertions, deletions, replacements and swaps of two adjacent bytes that turn a
// into b.
func editDistance(a, b string) int {
	// row[j] is the distance of a[:i] and b[:j]; last and before are the rows of i-1 and i-2.
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
