package figures

import (
	"fmt"
	"regexp"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// wrongBase returns the rule about this mistake: a percentage is of the wrong base.
func wrongBase() rule {
	return rule{audit.Rule{
		ID: "wrong-base", Severity: tare.Warn, Title: "A percentage is of the wrong base.",
		Why:     "A reduction is a share of what was there before, an increase of what it grew from: from 200 to 100 is 50 % less, from 100 to 200 is 100 % more, and nothing is less by more than 100 %. A saving per second is a share of that second.",
		Do:      "give the ratio of the two figures, with both names: it has one base only",
		Command: benchCommand, Lang: "text",
		Bad:  "Memory fell to 1000 B vs 1800 B: 80% less memory.\n",
		Good: "Memory fell to 1000 B vs 1800 B: 44% less memory.\n",
		Seen: []string{"json-encode"},
	}, findWrongBase}
}

// perSecondSaving matches a time per second with a percentage beside it.
var perSecondSaving = regexp.MustCompile(`(?i)(\d[\d,]*(?:\.\d+)?)\s*(ms|µs|us)\s*(?:/|per |of cpu (?:time )?per |cpu (?:time )?per )\s*s(?:ec(?:ond)?)?\b[^%\d]{0,20}~?(\d+(?:\.\d+)?)\s?%`)

func findWrongBase(d *document, report reportFunc) {
	for _, t := range d.tables {
		for _, c := range t.changes() {
			if c.less && c.percent && c.b.value < c.a.value && c.value > 100*(c.a.value-c.b.value)/c.a.value+max(2, c.step) && c.canBeOf() {
				report(c.line, fmt.Sprintf("%s: from %s to %s is %s %% less", quote(c.text), formatValue(c.a), formatValue(c.b), formatNumber(100*(c.a.value-c.b.value)/c.a.value)))
			}
		}
	}
	for _, s := range d.sentences {
		if m := perSecondSaving.FindStringSubmatch(s.text); m != nil {
			q, _, _ := parseQuantity(m[1] + " " + m[2])
			stated, _, _, _ := parseNumber(m[3])
			if share := q.value * 100; !isNear(share, stated, 0.2) {
				report(s.line, fmt.Sprintf("%s of each second are %s %% of a processor, not %s %%", formatTime(q.value), formatNumber(share), m[3]))
			}
		}
		claims := s.claims()
		for _, c := range claims {
			if !c.percent || isGoal(s.text, c) {
				continue
			}
			if c.isLess() && c.low > 100 {
				report(s.line, fmt.Sprintf("%s: nothing is less by more than 100 %%", quote(c.text)))
				continue
			}
			if p, ok := s.pairOf(c, claims); ok && !c.canBeOf(p.a.value, p.b.value) {
				if x := otherBase(c, p.a.value, p.b.value); x > 0 {
					report(s.line, fmt.Sprintf("%s: of %s and %s that is %s; the percentage is of the other figure", quote(c.text), formatValue(p.a), formatValue(p.b), c.describeActual(p.a.value, p.b.value)))
				}
			}
		}
	}
}

// otherBase returns the percentage of the other base if that is what the claim states, or 0.
func otherBase(c claim, a, b float64) float64 {
	small, great := min(a, b), max(a, b)
	if !c.percent || !(small > 0) || c.about {
		return 0
	}
	x := 0.0
	switch {
	case c.isLess():
		x = 100 * (great - small) / small
	case c.isMore():
		x = 100 * (great - small) / great
	}
	if x > 0 && c.isOf(x, 0.03) {
		return x
	}
	return 0
}
