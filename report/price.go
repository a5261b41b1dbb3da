package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// listTradeoffs returns the trade-offs of the contenders that can be first, a sentence or two per line:
// changed values and the alternatives that keep values, lack of maintenance, and the cost of the difference.
// It returns nil if nothing was recorded.
func (v *view) listTradeoffs(op string, first []ranking) []string {
	named := first
	var lines []string
	if len(v.r.Semantics) > 0 {
		for _, f := range first {
			if f.contender.ID != v.baseline {
				lines = append(lines, v.describeSemantics(op, f.contender))
			}
		}
		line, others := v.describeKeepers(op, first)
		named = slices.Concat(first, others)
		lines = append(lines, line)
	}
	for _, f := range named {
		if why := f.contender.Adoption.Unmaintained; why != "" {
			lines = append(lines, v.stateOnce(f.contender.ID+" counts as unmaintained", ": "+strings.TrimSuffix(why, ".")+"."))
		}
	}
	for _, f := range named {
		if x, ok := findCost(v.r, v.workload, f.contender.ID); ok && x.Sentence != "" {
			lines = append(lines, x.Sentence)
		}
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// describeSemantics returns the semantic differences of a contender that affect op, only those of the most
// severe class.
func (v *view) describeSemantics(op string, who tare.Contender) string {
	c, ok := findBehaviour(v.r, who.ID)
	if !ok {
		return "Whether " + who.ID + " changes values is not known: nothing odd was asked of it."
	}
	if by := c.missingTests(v.r, op); len(by) > 0 {
		return fmt.Sprintf("Whether %s changes values is not known: it could not be asked by %s.", who.ID, joinNames(by))
	}
	own := c.differencesOn(op)
	if len(own) == 0 {
		return v.stateOnce(who.ID+" keeps values", fmt.Sprintf(": it answered as %s does in every odd case that bears on %s.", orDefault(c.Reference, "the reference"), op))
	}
	gravest := ofClass(own, listClasses(own)[0])
	list := ": it " + describeConsequences(gravest, maxInCell) + " (asked by " + joinNames(listOps(gravest)) + ")."
	switch gravest[0].Class {
	case tare.DiffersInValue:
		return v.stateOnce(who.ID+" changes values", list)
	case tare.DiffersInAcceptance:
		return v.stateOnce(who.ID+" keeps values, but accepts or refuses otherwise", list)
	case tare.DiffersInForm:
		return v.stateOnce(who.ID+" keeps values and differs in form only", list)
	}
	return v.stateOnce(who.ID+" differs", list)
}

// stateOnce returns a statement with its grounds, or without them if it was printed before.
func (v *view) stateOnce(statement, grounds string) string {
	if v.shown[statement+grounds] {
		return statement + ", as above."
	}
	v.shown[statement+grounds] = true
	return statement + grounds
}

// describeKeepers names the contenders that keep every value, if one of first does not: those of first that do
// or, if none does, the best ranked of the others, which it returns as well.
func (v *view) describeKeepers(op string, first []ranking) (string, []ranking) {
	keeps := func(p ranking) bool { return v.keepsValues(op, p.contender.ID) }
	if !slices.ContainsFunc(first, func(p ranking) bool { return v.changesValues(op, p.contender.ID) }) {
		return "", nil
	}
	as := "as " + joinReferences(listBehaviours(v.r)) + " has it"
	if kept := filterRanks(first, keeps); len(kept) > 0 {
		verb := " keeps"
		if len(kept) > 1 {
			verb = " keep"
		}
		return "Of these, " + joinNames(listContenderIDs(kept)) + verb + " every value " + as + ".", nil
	}
	all := v.rankRanges()
	rest := filterRanks(all, keeps)
	if len(rest) == 0 {
		return "None of those ranked keeps every value " + as + ".", nil
	}
	best := filterRanks(rest, func(p ranking) bool { return p.low == rest[0].low })
	text := "Where every value must stay " + as + ": "
	if i := slices.IndexFunc(best, func(p ranking) bool { return p.contender.ID == v.baseline }); i >= 0 {
		text += "stay with " + v.baseline + "; of those that keep values none can be placed better."
		return text, nil
	}
	var named []string
	for _, p := range best {
		place := fmt.Sprint(p.low)
		if p.high > p.low {
			place += fmt.Sprintf("–%d", p.high)
		}
		named = append(named, fmt.Sprintf("%s (place %s of %d)", p.contender.ID, place, len(all)))
	}
	text += strings.Join(named, " or ") + "." + v.describeStanding(best)
	for _, p := range best {
		if !v.differsFromBaseline(p.contender.ID) {
			text += fmt.Sprintf(" No difference in %s between %s and %s was shown.", primaryMetric(v.r), p.contender.ID, v.baseline)
		}
		text += " " + v.describeSemantics(op, p.contender)
	}
	return text, best
}

// changesValues reports whether the contender changed a value in a test that affects op.
func (v *view) changesValues(op, id string) bool {
	c, _ := findBehaviour(v.r, id)
	return len(ofClass(c.differencesOn(op), tare.DiffersInValue)) > 0
}

// keepsValues reports whether the contender was tested by all operations that affect op and changed no value.
func (v *view) keepsValues(op, id string) bool {
	c, ok := findBehaviour(v.r, id)
	return ok && len(c.missingTests(v.r, op)) == 0 && !v.changesValues(op, id)
}

func filterRanks(places []ranking, keep func(ranking) bool) []ranking {
	return slices.DeleteFunc(slices.Clone(places), func(p ranking) bool { return !keep(p) })
}

func listContenderIDs(places []ranking) []string {
	var out []string
	for _, p := range places {
		out = append(out, p.contender.ID)
	}
	return out
}
