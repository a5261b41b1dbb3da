package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// conduct is how one contender's answers to odd input stand to the
// reference's.
type conduct struct {
	who tare.Contender
	tare.Semantics
}

// conducts are the contenders that were asked: the baseline first, then as
// the study lists them, traps last.
func conducts(r *tare.Result) []conduct {
	place := map[tare.Role]int{tare.RoleBaseline: 0, tare.RoleContender: 1, tare.RoleApart: 2, tare.RoleTrap: 3}
	var out []conduct
	for _, c := range builtContenders(r) {
		if i := slices.IndexFunc(r.Semantics, func(s tare.Semantics) bool { return s.Contender == c.ID }); i >= 0 {
			out = append(out, conduct{c, r.Semantics[i]})
		}
	}
	slices.SortStableFunc(out, func(a, b conduct) int { return place[a.who.Role] - place[b.who.Role] })
	return out
}

// conductOf is how the contender answered; it reports false where nobody asked
// it anything.
func conductOf(r *tare.Result, id string) (conduct, bool) {
	for _, c := range conducts(r) {
		if c.who.ID == id {
			return c, c.Cases > 0
		}
	}
	return conduct{}, false
}

// references are what answers were compared with, as one text.
func references(all []conduct) string {
	var names []string
	for _, c := range all {
		if c.Reference != "" && !slices.Contains(names, c.Reference) {
			names = append(names, c.Reference)
		}
	}
	return or(inWords(names), "the reference")
}

// classMeans is a class of differences in the words of a report.
func classMeans(class tare.DifferenceClass) string {
	switch class {
	case tare.DiffersInValue:
		return "another value arrives"
	case tare.DiffersInAcceptance:
		return "input that the reference refuses is accepted, or the reverse"
	case tare.DiffersInForm:
		return "the same value, spelled differently"
	}
	return ""
}

// gravity is a class's place among all of them, the gravest first; one that is
// not among them is behind.
func gravity(class tare.DifferenceClass) int {
	all := tare.DifferenceClasses()
	if i := slices.Index(all, class); i >= 0 {
		return i
	}
	return len(all)
}

// classes are the classes among differences, the gravest first.
func classes(differences []tare.Difference) []tare.DifferenceClass {
	var out []tare.DifferenceClass
	for _, d := range differences {
		if !slices.Contains(out, d.Class) {
			out = append(out, d.Class)
		}
	}
	slices.SortStableFunc(out, func(a, b tare.DifferenceClass) int { return gravity(a) - gravity(b) })
	return out
}

// of are the differences of one class.
func of(differences []tare.Difference, class tare.DifferenceClass) []tare.Difference {
	return slices.DeleteFunc(slices.Clone(differences), func(d tare.Difference) bool { return d.Class != class })
}

// sayLength is how long a consequence may be where it stands among others.
const sayLength = 90

// consequences are what differences come to, each once: at most n of them, the
// first of each property before any second one, and how many there are besides;
// n below 1 means all.
func consequences(differences []tare.Difference, n int) string {
	type say struct{ property, text string }
	var says []say
	for _, d := range differences {
		text := shortened(literal(d.Says), sayLength)
		if text == "" {
			text = shortened(literal("makes "+d.Got+" of "+d.Asked), sayLength)
		}
		if !slices.ContainsFunc(says, func(s say) bool { return s.text == text }) {
			says = append(says, say{d.Property, text})
		}
	}
	left := len(says)
	if n < 1 || left <= n+1 { // to name the last takes no more room than to count it
		n = left
	}
	var firsts, seconds []string
	seen := map[string]bool{}
	for _, s := range says {
		if seen[s.property] {
			seconds = append(seconds, s.text)
			continue
		}
		seen[s.property] = true
		firsts = append(firsts, s.text)
	}
	chosen := append(firsts, seconds...)[:n]
	var out []string
	for _, s := range says { // in the order in which they were asked
		if slices.Contains(chosen, s.text) {
			out = append(out, s.text)
		}
	}
	if left -= n; left > 0 {
		out = append(out, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(out, "; ")
}

// property is one row of the table of differences: what is looked at, how much
// a difference in it matters at worst, and through which operations it showed.
type property struct {
	name  string
	worst tare.DifferenceClass
	ops   []string
}

// properties are those in which anybody differs, the gravest first.
func properties(all []conduct) []property {
	var out []property
	for _, c := range all {
		for _, d := range c.Differences {
			i := slices.IndexFunc(out, func(p property) bool { return p.name == d.Property })
			if i < 0 {
				i = len(out)
				out = append(out, property{name: d.Property, worst: d.Class})
			}
			if gravity(d.Class) < gravity(out[i].worst) {
				out[i].worst = d.Class
			}
			if !slices.Contains(out[i].ops, d.Op) {
				out[i].ops = append(out[i].ops, d.Op)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b property) int { return gravity(a.worst) - gravity(b.worst) })
	return out
}

// unasked reports whether c could not be asked through any of ops.
func (c conduct) unasked(ops []string) bool {
	return len(ops) > 0 && !slices.ContainsFunc(ops, func(op string) bool { return !slices.Contains(c.Unsupported, op) })
}

// bearing are the differences that whoever uses the operation of a workload
// meets.
func (c conduct) bearing(op string) []tare.Difference {
	return slices.DeleteFunc(slices.Clone(c.Differences), func(d tare.Difference) bool { return !slices.Contains(d.BearsOn, op) })
}

// operations are those by which differences showed.
func operations(differences []tare.Difference) []string {
	var out []string
	for _, d := range differences {
		if !slices.Contains(out, d.Op) {
			out = append(out, d.Op)
		}
	}
	return out
}

// examined are the operations by which anybody showed a difference that bears
// on that of a workload.
func examined(r *tare.Result, op string) []string {
	var all []tare.Difference
	for _, s := range r.Semantics {
		all = append(all, conduct{Semantics: s}.bearing(op)...)
	}
	return operations(all)
}

// unknown are the operations by which c would have to be asked to know what it
// does to those who use the operation of a workload; none where it was asked.
func (c conduct) unknown(r *tare.Result, op string) []string {
	switch by := examined(r, op); {
	case c.unasked(by):
		return by
	case slices.Contains(c.Unsupported, op) && len(by) == 0:
		return []string{op}
	}
	return nil
}

// missing are the operations a contender could not be asked, each once.
func (c conduct) missing() []string {
	var out []string
	for _, op := range c.Unsupported {
		if !slices.Contains(out, op) {
			out = append(out, op)
		}
	}
	return out
}
