package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// unionMember is a member of a union, with all values of the tag that select it.
type unionMember struct {
	plan.Case
	also []int64 // further values
}

// unionMembers returns the members of a union that its tag names, each once.
func unionMembers(r plan.Rule) []unionMember {
	var list []unionMember
	for _, c := range r.Cases {
		i := slices.IndexFunc(list, func(m unionMember) bool { return m.C == c.C })
		if i < 0 {
			list = append(list, unionMember{Case: c})
			continue
		}
		list[i].also = append(list[i].also, c.Value)
	}
	return list
}

// joinValues returns the values that select m.
func (m unionMember) joinValues(between string) string {
	words := []string{fmt.Sprint(m.Value)}
	for _, n := range m.also {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, between)
}
