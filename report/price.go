package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// listTradeoffs returns what a user gets with the contenders first, which can rank first. Lines are about changed
// values, missing maintenance, and the cost of the difference. op is the operation of the workload.
func (v *view) listTradeoffs(op string, first []ranking) []string {
	named := first // contenders in the lines
	var lines []string
	if len(v.r.Semantics) > 0 {
		for _, f := range first {
			if f.contender.ID != v.baseline {
				lines = append(lines, v.describeSemantics(op, f.contender))
			}
		}
		line, alternatives := v.describePreservers(op, first)
		named = slices.Concat(first, alternatives)
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

// describeSemantics returns the outputs that differ from the reference and affect op, only of the most severe
// class.
func (v *view) describeSemantics(op string, contender tare.Contender) string {
	id := contender.ID
	c, isTested := findBehaviour(v.r, id)
	if !isTested {
		return "Whether " + id + " changes values is not known: nothing odd was asked of it."
	}
	if ops := c.missingTests(v.r, op); len(ops) > 0 {
		return fmt.Sprintf("Whether %s changes values is not known: it could not be asked by %s.", id, joinNames(ops))
	}
	differences := c.differencesOn(op)
	if len(differences) == 0 {
		return v.stateOnce(id+" keeps values", fmt.Sprintf(": it answered as %s does in every odd case that bears on %s.", orDefault(c.Reference, "the reference"), op))
	}
	worst := ofClass(differences, listClasses(differences)[0])
	grounds := ": it " + describeConsequences(worst, maxInCell) + " (asked by " + joinNames(listOps(worst)) + ")."
	switch worst[0].Class {
	case tare.DiffersInValue:
		return v.stateOnce(id+" changes values", grounds)
	case tare.DiffersInAcceptance:
		return v.stateOnce(id+" keeps values, but accepts or refuses otherwise", grounds)
	case tare.DiffersInForm:
		return v.stateOnce(id+" keeps values and differs in form only", grounds)
	}
	return v.stateOnce(id+" differs", grounds)
}

// stateOnce returns a statement with its grounds. If it was printed before, it has "as above" instead.
func (v *view) stateOnce(statement, grounds string) string {
	if v.shown[statement+grounds] {
		return statement + ", as above."
	}
	v.shown[statement+grounds] = true
	return statement + grounds
}

// describePreservers names the contenders that preserve every value, if one of first changes values. They are of
// first, else the best ranked alternatives. If the baseline is such an alternative, it advises to stay and returns
// nil.
func (v *view) describePreservers(op string, first []ranking) (text string, alternatives []ranking) {
	keepsValues := func(c ranking) bool { return v.preservesValues(op, c.contender.ID) }
	changesValues := func(c ranking) bool { return v.changesValues(op, c.contender.ID) }
	if !slices.ContainsFunc(first, changesValues) {
		return "", nil
	}
	asReference := "as " + joinReferences(listBehaviours(v.r)) + " has it"
	if keepers := filterRanks(first, keepsValues); len(keepers) > 0 {
		return "Of these, " + joinNames(listContenderIDs(keepers)) + format.Choose(len(keepers), " keeps", " keep") + " every value " + asReference + ".", nil
	}
	all := v.rankRanges()
	keepers := filterRanks(all, keepsValues) // sorted by rank
	if len(keepers) == 0 {
		return "None of those ranked keeps every value " + asReference + ".", nil
	}
	best := filterRanks(keepers, func(c ranking) bool { return c.low == keepers[0].low })
	text = "Where every value must stay " + asReference + ": "
	if slices.Contains(listContenderIDs(best), v.baseline) {
		text += "stay with " + v.baseline + "; of those that keep values none can be placed better."
		return text, nil
	}
	var named []string
	for _, c := range best {
		named = append(named, fmt.Sprintf("%s (place %s of %d)", c.contender.ID, formatRank(c.low, c.high), len(all)))
	}
	text += strings.Join(named, " or ") + "." + v.describeStanding(best)
	for _, c := range best {
		if !v.differsFromBaseline(c.contender.ID) {
			text += fmt.Sprintf(" No difference in %s between %s and %s was shown.", primaryMetric(v.r), c.contender.ID, v.baseline)
		}
		text += " " + v.describeSemantics(op, c.contender)
	}
	return text, best
}

func (v *view) changesValues(op, id string) bool {
	c, _ := findBehaviour(v.r, id)
	return len(ofClass(c.differencesOn(op), tare.DiffersInValue)) > 0
}

// preservesValues reports whether all tests that affect op were run and found no changed value.
func (v *view) preservesValues(op, id string) bool {
	c, ok := findBehaviour(v.r, id)
	return ok && len(c.missingTests(v.r, op)) == 0 && !v.changesValues(op, id)
}

func filterRanks(all []ranking, keep func(ranking) bool) []ranking {
	return slices.DeleteFunc(slices.Clone(all), func(c ranking) bool { return !keep(c) })
}

func listContenderIDs(all []ranking) []string {
	var ids []string
	for _, c := range all {
		ids = append(ids, c.contender.ID)
	}
	return ids
}
