package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// price is what comes with those who can be first: values that change, and who
// to take where they must not; that nobody maintains it; what the difference
// comes to. One sentence or two a line; none where nothing is recorded.
func (v *view) price(op string, first []ranking) []string {
	named := first
	var lines []string
	if len(v.r.Semantics) > 0 {
		for _, f := range first {
			if f.contender.ID != v.baseline {
				lines = append(lines, v.says(op, f.contender))
			}
		}
		line, others := v.keeping(op, first)
		named = slices.Concat(first, others)
		lines = append(lines, line)
	}
	for _, f := range named {
		if why := f.contender.Adoption.Unmaintained; why != "" {
			lines = append(lines, v.brief(f.contender.ID+" counts as unmaintained", ": "+strings.TrimSuffix(why, ".")+"."))
		}
	}
	for _, f := range named {
		if x, ok := costOf(v.r, v.workload, f.contender.ID); ok && x.Sentence != "" {
			lines = append(lines, x.Sentence)
		}
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// says is what a contender answers differently where that bears on op, the
// gravest kind of it only.
func (v *view) says(op string, who tare.Contender) string {
	c, ok := conductOf(v.r, who.ID)
	if !ok {
		return "Whether " + who.ID + " changes values is not known: nothing odd was asked of it."
	}
	if by := c.unknown(v.r, op); len(by) > 0 {
		return fmt.Sprintf("Whether %s changes values is not known: it could not be asked by %s.", who.ID, inWords(by))
	}
	own := c.bearing(op)
	if len(own) == 0 {
		return v.brief(who.ID+" keeps values", fmt.Sprintf(": it answered as %s does in every odd case that bears on %s.", or(c.Reference, "the reference"), op))
	}
	gravest := of(own, classes(own)[0])
	list := ": it " + consequences(gravest, cellSays) + " (asked by " + inWords(operations(gravest)) + ")."
	switch gravest[0].Class {
	case tare.DiffersInValue:
		return v.brief(who.ID+" changes values", list)
	case tare.DiffersInAcceptance:
		return v.brief(who.ID+" keeps values, but accepts or refuses otherwise", list)
	case tare.DiffersInForm:
		return v.brief(who.ID+" keeps values and differs in form only", list)
	}
	return v.brief(who.ID+" differs", list)
}

// brief is a statement with what it rests on, the second time without.
func (v *view) brief(statement, grounds string) string {
	if v.told[statement+grounds] {
		return statement + ", as above."
	}
	v.told[statement+grounds] = true
	return statement + grounds
}

// keeping says who keeps every value, where not all of those who can be first
// do: those among them that do or, if none does, the best placed of the
// others, which it returns as well.
func (v *view) keeping(op string, first []ranking) (string, []ranking) {
	keeps := func(p ranking) bool { return v.keeps(op, p.contender.ID) }
	if !slices.ContainsFunc(first, func(p ranking) bool { return v.changes(op, p.contender.ID) }) {
		return "", nil
	}
	as := "as " + references(conducts(v.r)) + " has it"
	if kept := kept(first, keeps); len(kept) > 0 {
		verb := " keeps"
		if len(kept) > 1 {
			verb = " keep"
		}
		return "Of these, " + inWords(ids(kept)) + verb + " every value " + as + ".", nil
	}
	all := v.places()
	rest := kept(all, keeps)
	if len(rest) == 0 {
		return "None of those ranked keeps every value " + as + ".", nil
	}
	best := kept(rest, func(p ranking) bool { return p.low == rest[0].low })
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
	text += strings.Join(named, " or ") + "." + v.standing(best)
	for _, p := range best {
		if !v.beats(p.contender.ID) {
			text += fmt.Sprintf(" No difference in %s between %s and %s was shown.", primaryMetric(v.r), p.contender.ID, v.baseline)
		}
		text += " " + v.says(op, p.contender)
	}
	return text, best
}

// changes reports whether a contender was seen to change a value by what bears
// on op.
func (v *view) changes(op, id string) bool {
	c, _ := conductOf(v.r, id)
	return len(of(c.bearing(op), tare.DiffersInValue)) > 0
}

// keeps reports whether a contender was asked by what bears on op and changed
// no value.
func (v *view) keeps(op, id string) bool {
	c, ok := conductOf(v.r, id)
	return ok && len(c.unknown(v.r, op)) == 0 && !v.changes(op, id)
}

func kept(places []ranking, keep func(ranking) bool) []ranking {
	return slices.DeleteFunc(slices.Clone(places), func(p ranking) bool { return !keep(p) })
}

func ids(places []ranking) []string {
	var out []string
	for _, p := range places {
		out = append(out, p.contender.ID)
	}
	return out
}
