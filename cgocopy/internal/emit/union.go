package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// member is a member of a union, with all values for which it holds.
type member struct {
	plan.Case
	also []int64 // values besides
}

// members are those of a union that its tag names, each once.
func members(r plan.Rule) []member {
	var list []member
	for _, c := range r.Cases {
		i := slices.IndexFunc(list, func(m member) bool { return m.C == c.C })
		if i < 0 {
			list = append(list, member{Case: c})
			continue
		}
		list[i].also = append(list[i].also, c.Value)
	}
	return list
}

// values are those for which m holds.
func (m member) values(between string) string {
	words := []string{fmt.Sprint(m.Value)}
	for _, n := range m.also {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, between)
}
