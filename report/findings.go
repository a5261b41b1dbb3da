package report

import (
	"strings"

	"github.com/tarebench/tare"
)

const severityWidth = 4 // of VOID, WARN, NOTE

// findings prints what the checks saw, void first. What traps were expected
// to come out as is one line: the tables say it in full.
func (p *page) findings(r *tare.Result) {
	var expected []string
	var open []tare.Finding
	for _, f := range r.Findings {
		if f.Expected {
			expected = append(expected, title(r, f.Contender)+" by "+f.Check)
			continue
		}
		open = append(open, f)
	}
	p.heading("WHAT THE CHECKS FOUND")
	if len(open) == 0 {
		p.wrap(bodyIndent, bodyIndent, "Nothing that speaks against these figures.", nil)
	}
	for _, level := range []struct {
		severity tare.Severity
		colour   func(string) string
	}{{tare.Void, p.style.Bad}, {tare.Warn, p.style.Warn}, {tare.Note, p.style.Dim}} {
		for _, f := range open {
			if f.Severity == level.severity {
				p.finding(r, f, level.colour)
			}
		}
	}
	if len(expected) > 0 {
		p.wrap(bodyIndent, bodyIndent, "As expected of the traps: "+strings.Join(expected, ", ")+".", p.style.Dim)
	}
}

func (p *page) finding(r *tare.Result, f tare.Finding, colour func(string) string) {
	about := []string{f.Check}
	if f.Contender != "" {
		about = append(about, title(r, f.Contender))
	}
	if f.Workload != "" {
		about = append(about, f.Workload)
	}
	p.labelled(strings.ToUpper(string(f.Severity)), severityWidth, colour, strings.Join(about, " · ")+": "+f.Message)
	if f.Advice != "" {
		at := bodyIndent + severityWidth + gap
		p.wrap(at, at+3, "→ "+f.Advice, p.style.Dim)
	}
}

func (p *page) notWeighed(r *tare.Result) {
	if len(r.NotWeighed) == 0 {
		return
	}
	p.heading("NOT WEIGHED")
	for _, n := range r.NotWeighed {
		p.wrap(bodyIndent, bodyIndent+gap, n.What+": "+n.Why, nil)
	}
}
