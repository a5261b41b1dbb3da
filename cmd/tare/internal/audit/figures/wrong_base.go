package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// wrongBase finds percentages of the wrong one of two figures. From 1800 B to 1000 B is 44 % less,
// and not 80 %.
func wrongBase() rule {
	return rule{Rule: audit.Rule{
		ID: "wrong-base", Severity: tare.Warn,
		Title:   "A percentage is of the wrong base.",
		Why:     "A reduction is a share of what was there before, an increase of what it grew from: from 200 to 100 is 50 % less, from 100 to 200 is 100 % more, and nothing is less by more than 100 %. A saving per second is a share of that second.",
		Do:      "give the ratio of the two figures, with both names: it has one base only",
		Command: benchCommand,
		Bad:     "Memory fell to 1000 B vs 1800 B: 80% less memory.\n",
		Good:    "Memory fell to 1000 B vs 1800 B: 44% less memory.\n",
		Seen:    []string{"json-encode"},
	}, find: findWrongBase}
}

// perSecondSavingRE matches "saves 40 ms/s, about 40 %". The groups are 40, ms and 40.
var perSecondSavingRE = lazyregexp.New(`(?i)(\d[\d,]*(?:\.\d+)?)\s*(ms|µs|us)\s*(?:/|per |of cpu (?:time )?per |cpu (?:time )?per )\s*s(?:ec(?:ond)?)?\b[^%\d]{0,20}~?(\d+(?:\.\d+)?)\s?%`)

// findWrongBase reports percentages that are of the wrong one of two figures, and decreases by more
// than 100 %.
func findWrongBase(d *document, report reportFunc) {
	for _, t := range d.tables {
		findWrongDecreases(t, report)
	}
	for _, s := range d.sentences {
		findWrongSaving(s, report)
		claims := s.claims()
		for _, c := range claims {
			if !c.isPercent || isGoal(s.text, c) {
				continue
			}
			if c.isLess() && c.low > 100 {
				report(s.line, fmt.Sprintf("%s: nothing is less by more than 100 %%", quote(c.text)))
			} else if why := cmp.Or(d.whyWrongBase(c, claims), d.whyWrongBaseOfAmount(c)); why != "" {
				report(s.lineAt(c.start), quote(c.text)+": of "+why+"; the percentage is of the other figure")
			}
		}
	}
}

// findWrongDecreases reports decreases in a table that are percentages of the value after.
func findWrongDecreases(t *table, report reportFunc) {
	const minExcess = 2 // percentage points
	for _, c := range t.changes() {
		if !c.isLess || !c.isPercent || c.after.value >= c.before.value {
			continue
		}
		decrease := 100 * (c.before.value - c.after.value) / c.before.value
		if c.value > decrease+max(minExcess, c.step) && c.isCorrect() {
			report(c.line, fmt.Sprintf("%s: from %s to %s is %s %% less", quote(c.text), formatValue(c.before), formatValue(c.after), formatNumber(decrease)))
		}
	}
}

// findWrongSaving reports "saves 40 ms/s, about 40 %", which are 4 %.
func findWrongSaving(s sentence, report reportFunc) {
	const roundingShare = 0.2
	m := perSecondSavingRE.FindStringSubmatch(s.text)
	if m == nil {
		return
	}
	q, _, _ := parseQuantity(m[1] + " " + m[2])
	stated, _, _, _ := parseNumber(m[3])
	if share := q.value * 100; !isNear(share, stated, roundingShare) {
		report(s.line, fmt.Sprintf("%s of each second are %s %% of a processor, not %s %%", formatTime(q.value), formatNumber(share), m[3]))
	}
}

// whyWrongBase compares a claim with the two figures next to it, or else with the page. It returns
// a part of a finding, or "".
func (d *document) whyWrongBase(c claim, claims []claim) string {
	p, ok := c.sentence.pairOf(c, claims)
	if !ok {
		v := d.judgeClaim(c, claims)
		if u := d.findUnexplained(c, claims); u != nil && u.otherBase != nil {
			v.wrongBase = u.otherBase
		}
		if v.wrongBase == nil || v.isSupported {
			return ""
		}
		a, b := v.wrongBase.a, v.wrongBase.b
		return fmt.Sprintf("%s and %s (line %d) that is %s", formatValue(a.quantity), formatValue(b.quantity), b.line, c.describeActual(a.value, b.value))
	}
	if c.matchesPair(p.a.value, p.b.value) || percentOfOtherBase(c, p.a.value, p.b.value) == 0 {
		return ""
	}
	return fmt.Sprintf("%s and %s that is %s", formatValue(p.a), formatValue(p.b), c.describeActual(p.a.value, p.b.value))
}

// percentOfOtherBase returns the claimed percentage if it is of the wrong figure, else 0. It checks
// an increase against the greater figure, and a decrease against the smaller one.
func percentOfOtherBase(c claim, a, b float64) float64 {
	const tolerance = 0.03 // less than claimTolerance: the finding names the mistake
	small, great := min(a, b), max(a, b)
	if !c.isPercent || !(small > 0) || c.isApproximate {
		return 0
	}
	x := 0.0
	switch {
	case c.isLess():
		x = 100 * (great - small) / small
	case c.isMore():
		x = 100 * (great - small) / great
	}
	if x > 0 && c.matchesValue(x, tolerance) {
		return x
	}
	return 0
}

// whyWrongBaseOfAmount compares a claim with the pair of a column whose difference the sentence states: "it gives back
// 16.8 MB, so that the memory shrinks by 54 %". It returns a part of a finding, or "".
func (d *document) whyWrongBaseOfAmount(c claim) string {
	index := d.tableBefore(c.sentence)
	if index < 0 {
		return ""
	}
	var amounts []quantity
	for _, m := range numberRE.FindAllStringIndex(c.sentence.text, maxFigures) {
		if q, _, ok := parseQuantity(c.sentence.text[m[0]:]); ok && q.value > 0 && q.kind != percentKind && q.kind != factorKind && q.kind != plainKind {
			amounts = append(amounts, q)
		}
	}
	why := ""
	for _, p := range d.comparablePairs(index) {
		const halfStep = 0.51
		isAmount := func(q quantity) bool {
			return q.kind == p.a.kind && math.Abs(math.Abs(p.a.value-p.b.value)-q.value) <= halfStep*q.step
		}
		switch {
		case c.matchesPair(p.a.value, p.b.value):
			return ""
		case p.a.column == p.b.column && slices.ContainsFunc(amounts, isAmount) && percentOfOtherBase(c, p.a.value, p.b.value) > 0:
			why = fmt.Sprintf("%s and %s (line %d) that is %s", formatValue(p.a.quantity), formatValue(p.b.quantity), p.b.line, c.describeActual(p.a.value, p.b.value))
		}
	}
	return why
}
