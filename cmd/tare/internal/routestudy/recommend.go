package routestudy

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/advice"
	sdk "github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/router"
)

// Recommendation recommends a router for the routes, if any, with its share of a complete request
// and its costs, and names the routers that could not be measured.
func (d *Document) Recommendation(r *tare.Result) []string {
	a := &adviser{Reading: advice.Reading{Result: r, Baseline: d.Baseline(), Workload: allID, Metric: "time"}, d: d}
	return append(a.recommend(), a.listRejected()...)
}

// SetAnswer gives a result the headline of its recommendation.
func (d *Document) SetAnswer(r *tare.Result) {
	a := &adviser{Reading: advice.Reading{Result: r, Baseline: d.Baseline(), Workload: allID, Metric: "time"}, d: d}
	a.Reading.SetAnswer("router", routerName(a.Baseline), "where each request must reach its route", func(id string) bool { return len(a.findMisrouted(id)) == 0 })
}

// adviser reads the workload that requests all routes.
type adviser struct {
	advice.Reading
	d *Document
}

func (a *adviser) recommend() []string {
	subject := "On your " + a.d.countRoutes()
	if !slices.ContainsFunc(a.Result.Workloads, func(w tare.Workload) bool { return w.ID == allID }) {
		return []string{fmt.Sprintf("%s: no recommendation: the workload %s was not measured.", subject, allID)}
	}
	if why := a.Nothing(); why != "" {
		return []string{fmt.Sprintf("%s: no recommendation: %s.", subject, why)}
	}
	measured, faster := a.Measured(), a.Faster()
	switch {
	case len(measured) == 0:
		return []string{fmt.Sprintf("%s: no recommendation: no router was compared with %s.", subject, routerName(a.Baseline))}
	case len(faster) == 0:
		none, nearest := fmt.Sprintf("none of the %d routers measured was", len(measured)), "The nearest, "+measured[0].Contender+","
		if len(measured) == 1 {
			none, nearest = "the other router was not", measured[0].Contender
		}
		text := fmt.Sprintf("%s: stay with %s: %s shown to be faster beyond what the control shows (±%s).", subject, routerName(a.Baseline), none, advice.Percent(math.Expm1(a.NoiseFloor())))
		return a.addImpact([]string{text + " " + a.describeLookup(nearest, measured[0]) + "."})
	}
	lines := []string{a.describeChoice(subject+" "+faster[0].Contender, faster[0], faster)}
	if len(a.findMisrouted(faster[0].Contender)) > 0 {
		const where = "Where every request must reach the most specific of your routes: "
		right := slices.IndexFunc(faster, func(c tare.Comparison) bool { return len(a.findMisrouted(c.Contender)) == 0 })
		if right < 0 {
			lines = append(lines, where+"stay with "+routerName(a.Baseline)+".")
		} else {
			lines = append(lines, a.describeChoice(where+faster[right].Contender, faster[right], faster))
		}
	}
	return a.addImpact(lines)
}

// describeChoice returns the gain and the costs of a router.
func (a *adviser) describeChoice(who string, c tare.Comparison, faster []tare.Comparison) string {
	return fmt.Sprintf("%s; %s; %s%s.", a.describeLookup(who, c), a.describeSemantics(c.Contender), a.Price(c.Contender), advice.TiedWith(c, faster))
}

// findMisrouted returns the requests that a route of the table should have handled, and that the
// router handled otherwise.
func (a *adviser) findMisrouted(id string) []tare.Difference {
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

// describeLookup returns the time of a lookup by a router, and its share of a request.
func (a *adviser) describeLookup(who string, c tare.Comparison) string {
	text := fmt.Sprintf("%s takes %s the time of %s for a lookup, %s instead of %s", who,
		format.Within(c.Ratio, c.Low, c.High), routerName(a.Baseline), advice.Nanoseconds(c.Value), advice.Nanoseconds(c.AgainstValue))
	cpu, ok := a.cpuReading().Comparison(c.Contender)
	if request := a.requestCost(); request > 0 && ok {
		text += fmt.Sprintf(": of CPU time the difference is %s of what a request costs over a loopback connection, %s",
			advice.Percent(math.Abs(cpu.Value-cpu.AgainstValue)/request), advice.Nanoseconds(request))
	}
	return text
}

// cpuReading returns the same reading by CPU time, which noise disturbs least.
func (a *adviser) cpuReading() advice.Reading {
	r := a.Reading
	r.Metric = "cpu"
	return r
}

// requestCost returns the baseline's CPU time for a complete request; 0 if it was not measured.
func (a *adviser) requestCost() float64 {
	if v, ok := a.Result.Value(socketID, a.Baseline, "cpu"); ok && !v.Struck {
		return v.Value
	}
	return 0
}

// addImpact adds whether a request would notice the choice, and of which router: by the complete
// interval of its difference from the baseline.
func (a *adviser) addImpact(lines []string) []string {
	request := a.requestCost()
	if request <= 0 {
		return lines
	}
	var dear, open []string
	measured := a.cpuReading().Measured()
	for _, c := range measured {
		switch limit := noticeable * request; {
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
		return append(lines, fmt.Sprintf("No router here costs a request %s more CPU time than %s does: choose by what they answer and what they bring, not by speed.", share, routerName(a.Baseline)))
	case len(dear) == len(measured):
		return append(lines, fmt.Sprintf("All that were measured cost a request more than %s more CPU time than %s does.", share, routerName(a.Baseline)))
	}
	var parts []string
	if len(dear) > 0 {
		parts = append(parts, "more: "+advice.Names(dear))
	}
	if len(open) > 0 {
		parts = append(parts, "not decided: "+advice.Names(open))
	}
	return append(lines, fmt.Sprintf("%d of %d routers cost a request at most %s more CPU time than %s does (%s): among those choose by what they answer and what they bring, not by speed.",
		len(measured)-len(dear)-len(open), len(measured), share, routerName(a.Baseline), strings.Join(parts, "; ")))
}

// describeSemantics returns in how many of the semantics tests a router differs.
func (a *adviser) describeSemantics(id string) string {
	for _, s := range a.Result.Semantics {
		if s.Contender != id {
			continue
		}
		n := len(s.Differences)
		if n == 0 {
			return fmt.Sprintf("it answers all %d odd requests as net/http does", s.Cases)
		}
		text := fmt.Sprintf("it answers %d of %d odd requests otherwise than net/http (see what they answer differently)", n, s.Cases)
		if list := a.findMisrouted(id); len(list) > 0 {
			text += fmt.Sprintf(", %d of them requests for your routes: it %s", len(list), list[0].Says)
		}
		return text
	}
	return "what it answers to odd requests is not known"
}

// registeredRE matches the position in tare's program where a router was given a route, which means
// nothing to the user. Messages may be cut short.
var registeredRE = regexp.MustCompile(`\s*\(registered at [^)]*(\)|$)`)

// listRejected names the routers that cannot have the table, and why.
func (a *adviser) listRejected() []string {
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
		why = registeredRE.ReplaceAllString(why, "")
		out = append(out, fmt.Sprintf("%s cannot have these routes: %s.", routerName(t.Contender), strings.TrimSuffix(why, ".")))
	}
	return out
}

// routerName returns the name of a router in sentences.
func routerName(id string) string {
	if id == Baseline {
		return "net/http"
	}
	return id
}
