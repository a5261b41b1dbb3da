package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// unionMember is a member of a union, with all values of the discriminant that select it. The discriminant
// is the number that shows which member is valid.
type unionMember struct {
	plan.Case
	furtherValues []int64 // values after Case.Value
}

// unionMembers returns the members that the cases of a union select, each once.
func unionMembers(r plan.Rule) []unionMember {
	var list []unionMember
	for _, c := range r.Cases {
		i := slices.IndexFunc(list, func(m unionMember) bool { return m.C == c.C })
		if i < 0 {
			list = append(list, unionMember{Case: c})
			continue
		}
		list[i].furtherValues = append(list[i].furtherValues, c.Value)
	}
	return list
}

func (m unionMember) joinValues(separator string) string {
	values := []string{fmt.Sprint(m.Value)}
	for _, n := range m.furtherValues {
		values = append(values, fmt.Sprint(n))
	}
	return strings.Join(values, separator)
}
