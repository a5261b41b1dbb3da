package routes

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring/advice"
	sdk "github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/router"
)

// Recommendation says which router to take for the routes, if any, what of a
// whole request that is, what comes with it, and who could not be measured.
func (d *Document) Recommendation(r *tare.Result) []string {
	a := &adviser{Reading: advice.Reading{Result: r, Baseline: d.Baseline(), Workload: allID, Metric: "time"}, d: d}
	return append(a.lines(), a.refused()...)
}

// SetAnswer gives a result the headline of its recommendation.
func (d *Document) SetAnswer(r *tare.Result) {
	a := &adviser{Reading: advice.Reading{Result: r, Baseline: d.Baseline(), Workload: allID, Metric: "time"}, d: d}
	a.Reading.SetAnswer("router", name(a.Baseline), "where each request must reach its route", func(id string) bool { return len(a.misrouted(id)) == 0 })
}

// adviser reads the workload that asks for all routes.
type adviser struct {
	advice.Reading
	d *Document
}

func (a *adviser) lines() []string {
	subject := "On your " + a.d.routes()
	if !slices.ContainsFunc(a.Result.Workloads, func(w tare.Workload) bool { return w.ID == allID }) {
		return []string{fmt.Sprintf("%s: no recommendation: the workload %s was not measured.", subject, allID)}
	}
	if why := a.Nothing(); why != "" {
		return []string{fmt.Sprintf("%s: no recommendation: %s.", subject, why)}
	}
	measured, faster := a.Measured(), a.Faster()
	switch {
	case len(measured) == 0:
		return []string{fmt.Sprintf("%s: no recommendation: no router was compared with %s.", subject, name(a.Baseline))}
	case len(faster) == 0:
		none, nearest := fmt.Sprintf("none of the %d routers measured was", len(measured)), "The nearest, "+measured[0].Contender+","
		if len(measured) == 1 {
			none, nearest = "the other router was not", measured[0].Contender
		}
		text := fmt.Sprintf("%s: stay with %s: %s shown to be faster beyond what the control shows (±%s).", subject, name(a.Baseline), none, advice.Percent(math.Expm1(a.NoiseFloor())))
		return a.matters([]string{text + " " + a.sentence(nearest, measured[0]) + "."})
	}
	lines := []string{a.praise(subject+" "+faster[0].Contender, faster[0], faster)}
	if len(a.misrouted(faster[0].Contender)) > 0 {
		const where = "Where every request must reach the most specific of your routes: "
		right := slices.IndexFunc(faster, func(c tare.Comparison) bool { return len(a.misrouted(c.Contender)) == 0 })
		if right < 0 {
			lines = append(lines, where+"stay with "+name(a.Baseline)+".")
		} else {
			lines = append(lines, a.praise(where+faster[right].Contender, faster[right], faster))
		}
	}
	return a.matters(lines)
}

// praise is what a router brings and what it costs.
func (a *adviser) praise(who string, c tare.Comparison, faster []tare.Comparison) string {
	return fmt.Sprintf("%s; %s; %s%s.", a.sentence(who, c), a.meaning(c.Contender), a.Price(c.Contender), advice.TiedWith(c, faster))
}

// misrouted returns the requests that a route of the table should have answered, and that came to
// something else with the router.
func (a *adviser) misrouted(id string) []tare.Difference {
	var out []tare.Difference
	for _, s := range a.Result.Semantics {
		for _, d := range s.Differences {
			if s.Contender == id && router.IsMisrouted(d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// sentence is what a lookup takes by a router, and what of a request that is.
func (a *adviser) sentence(who string, c tare.Comparison) string {
	text := fmt.Sprintf("%s takes %s the time of %s for a lookup, %s instead of %s", who,
		format.Within(c.Ratio, c.Low, c.High), name(a.Baseline), advice.Nanoseconds(c.Value), advice.Nanoseconds(c.AgainstValue))
	cpu, ok := a.cpu().Comparison(c.Contender)
	if whole := a.request(); whole > 0 && ok {
		text += fmt.Sprintf(": of CPU time the difference is %s of what a request costs over a loopback connection, %s",
			advice.Percent(math.Abs(cpu.Value-cpu.AgainstValue)/whole), advice.Nanoseconds(whole))
	}
	return text
}

// cpu is the same by CPU time, which noise disturbs least.
func (a *adviser) cpu() advice.Reading {
	r := a.Reading
	r.Metric = "cpu"
	return r
}

// request is what the baseline takes of CPU time for a whole request; zero: not
// measured.
func (a *adviser) request() float64 {
	if v, ok := a.Result.Value(socketID, a.Baseline, "cpu"); ok && !v.Struck {
		return v.Value
	}
	return 0
}

// matters adds whether a request would notice the choice, and of whom: by where
// the whole interval of what a router takes more than the baseline lies.
func (a *adviser) matters(lines []string) []string {
	whole := a.request()
	if whole <= 0 {
		return lines
	}
	var dear, open []string
	measured := a.cpu().Measured()
	for _, c := range measured {
		switch limit := noticeable * whole; {
		case (c.Low-1)*c.AgainstValue > limit:
			dear = append(dear, c.Contender)
		case (c.High-1)*c.AgainstValue > limit:
			open = append(open, c.Contender)
		}
	}
	share := advice.Percent(noticeable)
	switch {
	case len(measured) == 0:
		return lines
	case len(dear)+len(open) == 0:
		return append(lines, fmt.Sprintf("No router here costs a request %s more CPU time than %s does: choose by what they answer and what they bring, not by speed.", share, name(a.Baseline)))
	case len(dear) == len(measured):
		return append(lines, fmt.Sprintf("All that were measured cost a request more than %s more CPU time than %s does.", share, name(a.Baseline)))
	}
	var parts []string
	if len(dear) > 0 {
		parts = append(parts, "more: "+advice.Names(dear))
	}
	if len(open) > 0 {
		parts = append(parts, "not decided: "+advice.Names(open))
	}
	return append(lines, fmt.Sprintf("%d of %d routers cost a request at most %s more CPU time than %s does (%s): among those choose by what they answer and what they bring, not by speed.",
		len(measured)-len(dear)-len(open), len(measured), share, name(a.Baseline), strings.Join(parts, "; ")))
}

// meaning says in how much of the exams a router differs.
func (a *adviser) meaning(id string) string {
	for _, s := range a.Result.Semantics {
		if s.Contender != id {
			continue
		}
		n := len(s.Differences)
		if n == 0 {
			return fmt.Sprintf("it answers all %d odd requests as net/http does", s.Cases)
		}
		text := fmt.Sprintf("it answers %d of %d odd requests otherwise than net/http (see what they answer differently)", n, s.Cases)
		if list := a.misrouted(id); len(list) > 0 {
			text += fmt.Sprintf(", %d of them requests for your routes: it %s", len(list), list[0].Says)
		}
		return text
	}
	return "what it answers to odd requests is not known"
}

// registered is where in its own program a router was given a route, which
// nobody who reads of it wants to know. Messages may be cut short.
var registered = regexp.MustCompile(`\s*\(registered at [^)]*(\)|$)`)

// refused names the routers that cannot have the table, and why.
func (a *adviser) refused() []string {
	var out []string
	for _, t := range a.Result.Trials {
		if t.Error == nil || t.Round > 0 {
			continue
		}
		why, ok := strings.CutPrefix(t.Error.Message, "prepare: ")
		if !ok {
			out = append(out, fmt.Sprintf("%s could not be measured: %s.", t.Contender, strings.TrimSuffix(t.Error.Message, ".")))
			continue
		}
		for _, before := range []string{"load: ", "internal: ", sdk.Refusal} {
			why = strings.TrimPrefix(why, before)
		}
		why = registered.ReplaceAllString(why, "")
		out = append(out, fmt.Sprintf("%s cannot have these routes: %s.", name(t.Contender), strings.TrimSuffix(why, ".")))
	}
	return out
}

// name is a router as people call it.
func name(id string) string {
	if id == Baseline {
		return "net/http"
	}
	return id
}
