package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// behaviour has the results of the semantics tests of one contender. The output is compared with a reference
// implementation. A case tests a property, such as "duplicate keys", by an operation. A difference has a class,
// and a consequence such as "keeps the last one".
type behaviour struct {
	contender tare.Contender
	tare.Semantics
}

// listBehaviours returns the contenders with semantics tests. The baseline comes first, and traps (deliberate
// mistakes) come last.
func listBehaviours(r *tare.Result) []behaviour {
	order := map[tare.Role]int{tare.RoleBaseline: 0, tare.RoleContender: 1, tare.RoleApart: 2, tare.RoleTrap: 3}
	var out []behaviour
	for _, c := range builtContenders(r) {
		i := slices.IndexFunc(r.Semantics, func(s tare.Semantics) bool { return s.Contender == c.ID })
		if isTested := i >= 0; isTested {
			out = append(out, behaviour{c, r.Semantics[i]})
		}
	}
	slices.SortStableFunc(out, func(a, b behaviour) int { return order[a.contender.Role] - order[b.contender.Role] })
	return out
}

// findBehaviour returns false if the contender ran no semantics test.
func findBehaviour(r *tare.Result, id string) (behaviour, bool) {
	for _, c := range listBehaviours(r) {
		if c.contender.ID == id {
			return c, c.Cases > 0
		}
	}
	return behaviour{}, false
}

// joinReferences names the reference implementations.
func joinReferences(all []behaviour) string {
	var names []string
	for _, c := range all {
		if c.Reference != "" && !slices.Contains(names, c.Reference) {
			names = append(names, c.Reference)
		}
	}
	return orDefault(joinNames(names), "the reference")
}

func explainClass(class tare.DifferenceClass) string {
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

// classRank returns the rank of a class by severity; 0 is the most severe.
func classRank(class tare.DifferenceClass) int {
	all := tare.DifferenceClasses()
	if i := slices.Index(all, class); i >= 0 {
		return i
	}
	return len(all)
}

func listClasses(differences []tare.Difference) []tare.DifferenceClass {
	out := listDistinct(differences, func(d tare.Difference) tare.DifferenceClass { return d.Class })
	slices.SortStableFunc(out, func(a, b tare.DifferenceClass) int { return classRank(a) - classRank(b) })
	return out
}

func ofClass(differences []tare.Difference, class tare.DifferenceClass) []tare.Difference {
	return slices.DeleteFunc(slices.Clone(differences), func(d tare.Difference) bool { return d.Class != class })
}

// maxConsequence limits the characters of a consequence in a list.
const maxConsequence = 90

// describeConsequences returns at most n distinct consequences; 0 means all. Others are counted: "keeps the last
// one; rejects NaN; and 3 more". Each property gets its first consequence before any gets a second.
func describeConsequences(differences []tare.Difference, n int) string {
	type consequence struct{ property, text string }
	var all []consequence
	for _, d := range differences {
		text := format.Clip(showLiteral(d.Says), maxConsequence)
		if text == "" {
			text = format.Clip(showLiteral("makes "+d.Got+" of "+d.Asked), maxConsequence)
		}
		if !slices.ContainsFunc(all, func(c consequence) bool { return c.text == text }) {
			all = append(all, consequence{d.Property, text})
		}
	}
	if isOneMore := len(all) == n+1; n < 1 || len(all) <= n || isOneMore { // a last text takes no more room than "and 1 more"
		n = len(all)
	}
	var firsts, seconds []string // the first consequence of each property; the others
	isNamed := map[string]bool{} // properties
	for _, c := range all {
		if isNamed[c.property] {
			seconds = append(seconds, c.text)
			continue
		}
		isNamed[c.property] = true
		firsts = append(firsts, c.text)
	}
	chosen := append(firsts, seconds...)[:n]
	var out []string
	for _, c := range all { // in the order of the tests
		if slices.Contains(chosen, c.text) {
			out = append(out, c.text)
		}
	}
	if rest := len(all) - n; rest > 0 {
		out = append(out, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(out, "; ")
}

// property is a tested property in which a contender differs.
type property struct {
	name  string
	worst tare.DifferenceClass // most severe class of a difference
	ops   []string             // operations with a difference
}

// listProperties returns the properties with differences, the most severe first.
func listProperties(all []behaviour) []property {
	var out []property
	for _, c := range all {
		for _, d := range c.Differences {
			i := slices.IndexFunc(out, func(p property) bool { return p.name == d.Property })
			if i < 0 {
				i = len(out)
				out = append(out, property{name: d.Property, worst: d.Class})
			}
			if classRank(d.Class) < classRank(out[i].worst) {
				out[i].worst = d.Class
			}
			out[i].ops = appendNew(out[i].ops, d.Op)
		}
	}
	slices.SortStableFunc(out, func(a, b property) int { return classRank(a.worst) - classRank(b.worst) })
	return out
}

// isUntested reports whether c supports none of ops. It returns false if ops is empty.
func (c behaviour) isUntested(ops []string) bool {
	return len(ops) > 0 && !slices.ContainsFunc(ops, func(op string) bool { return !slices.Contains(c.Unsupported, op) })
}

// differencesOn returns the differences that affect users of operation op.
func (c behaviour) differencesOn(op string) []tare.Difference {
	return slices.DeleteFunc(slices.Clone(c.Differences), func(d tare.Difference) bool { return !slices.Contains(d.BearsOn, op) })
}

func listOps(differences []tare.Difference) []string {
	return listDistinct(differences, func(d tare.Difference) string { return d.Op })
}

// opsAffecting returns the operations with differences that affect users of op.
func opsAffecting(r *tare.Result, op string) []string {
	var all []tare.Difference
	for _, s := range r.Semantics {
		all = append(all, behaviour{Semantics: s}.differencesOn(op)...)
	}
	return listOps(all)
}

// missingTests returns the unsupported operations that would test c for users of op. It returns nil if the tests
// of c suffice.
func (c behaviour) missingTests(r *tare.Result, op string) []string {
	ops := opsAffecting(r, op)
	if c.isUntested(ops) {
		return ops
	}
	if len(ops) == 0 && slices.Contains(c.Unsupported, op) {
		return []string{op}
	}
	return nil
}

func (c behaviour) listUnsupported() []string {
	return listDistinct(c.Unsupported, func(op string) string { return op })
}
