package routestudy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/advice"
	sdk "github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/kinds/router"
)

// This file recommends a router by the result of a study, or advises to stay with net/http. For example:
// "On your 12 routes chi takes 0.71 the time of net/http for a lookup, …".

// Recommendation returns sentences that recommend a router for the routes, or the baseline. They name the
// router's share of the cost of a request, its disadvantages, and the routers that could not be measured.
func (d *Document) Recommendation(r *tare.Result) []string {
	a := d.newAdviser(r)
	return append(a.recommend(), listRejected(r)...)
}

// SetAnswer sets the headline of a result: the recommendation.
func (d *Document) SetAnswer(r *tare.Result) {
	a := d.newAdviser(r)
	routesRight := func(id string) bool { return len(a.findMisrouted(id)) == 0 }
	a.Reading.SetAnswer("router", routerName(a.Baseline), "where each request must reach its route", routesRight)
}

func (d *Document) newAdviser(r *tare.Result) *adviser {
	return &adviser{Reading: advice.Reading{Result: r, Baseline: d.Baseline(), Workload: allID, Metric: "time"}, d: d}
}

// adviser recommends a router by the workload that requests all routes. The embedded Reading returns what
// the result has about that workload, such as the routers that are faster than the baseline.
type adviser struct {
	advice.Reading
	d *Document
}

// recommend returns the recommendation and a line about the effect on a request. If the fastest
// router misroutes requests, it adds a second recommendation.
func (a *adviser) recommend() []string {
	subject := "On your " + a.d.countRoutes()
	if !slices.ContainsFunc(a.Result.Workloads, func(w tare.Workload) bool { return w.ID == allID }) {
		return []string{fmt.Sprintf("%s: no recommendation: the workload %s was not measured.", subject, allID)}
	}
	if why := a.WhyNoAdvice(); why != "" {
		return []string{fmt.Sprintf("%s: no recommendation: %s.", subject, why)}
	}
	measured, faster := a.Measured(), a.Faster()
	switch {
	case len(measured) == 0:
		return []string{fmt.Sprintf("%s: no recommendation: no router was compared with %s.", subject, routerName(a.Baseline))}
	case len(faster) == 0:
		return a.addImpact([]string{a.adviseBaseline(subject, measured)})
	}
	lines := []string{a.describeChoice(subject+" "+faster[0].Contender, faster[0], faster)}
	if len(a.findMisrouted(faster[0].Contender)) > 0 {
		const condition = "Where every request must reach the most specific of your routes: "
		i := slices.IndexFunc(faster, func(c tare.Comparison) bool { return len(a.findMisrouted(c.Contender)) == 0 })
		if i < 0 {
			lines = append(lines, condition+"stay with "+routerName(a.Baseline)+".")
		} else {
			lines = append(lines, a.describeChoice(condition+faster[i].Contender, faster[i], faster))
		}
	}
	return a.addImpact(lines)
}

// adviseBaseline returns the advice to stay with the baseline. The first of measured is the fastest.
func (a *adviser) adviseBaseline(subject string, measured []tare.Comparison) string {
	none := fmt.Sprintf("none of the %d routers measured was", len(measured))
	fastest := "The nearest, " + measured[0].Contender + ","
	if len(measured) == 1 {
		none, fastest = "the other router was not", measured[0].Contender
	}
	noise := advice.FormatPercent(math.Expm1(a.NoiseFloor())) // NoiseFloor is the logarithm of a ratio
	return fmt.Sprintf("%s: stay with %s: %s shown to be faster beyond what the control shows (±%s). %s.",
		subject, routerName(a.Baseline), none, noise, a.describeLookup(fastest, measured[0]))
}

// describeChoice returns the sentence that recommends the router of c.
func (a *adviser) describeChoice(subject string, c tare.Comparison, faster []tare.Comparison) string {
	return fmt.Sprintf("%s; %s; %s%s.", a.describeLookup(subject, c), a.describeSemantics(c.Contender), a.DescribeCosts(c.Contender), advice.DescribeTies(c, faster))
}

// findMisrouted returns the differences of a router in requests that one of the routes should have
// handled.
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

// describeLookup returns a clause that begins with subject: the time of a router's lookup, and its share
// of a request if that was measured.
func (a *adviser) describeLookup(subject string, c tare.Comparison) string {
	text := fmt.Sprintf("%s takes %s the time of %s for a lookup, %s instead of %s", subject,
		format.Within(c.Ratio, c.Low, c.High), routerName(a.Baseline), advice.FormatNanoseconds(c.Value), advice.FormatNanoseconds(c.AgainstValue))
	cpu, ok := a.cpuReading().Comparison(c.Contender)
	if request := a.requestCost(); request > 0 && ok {
		text += fmt.Sprintf(": of CPU time the difference is %s of what a request costs over a loopback connection, %s",
			advice.FormatPercent(math.Abs(cpu.Value-cpu.AgainstValue)/request), advice.FormatNanoseconds(request))
	}
	return text
}

// cpuReading returns the reading with CPU time as the metric, which noise disturbs least.
func (a *adviser) cpuReading() advice.Reading {
	r := a.Reading
	r.Metric = "cpu"
	return r
}

// requestCost returns the baseline's CPU time for a complete request, or 0 if it was not measured.
func (a *adviser) requestCost() float64 {
	if v, ok := a.Result.Value(socketID, a.Baseline, "cpu"); ok && !v.Struck { // a check can strike a value
		return v.Value
	}
	return 0
}

// addImpact adds a line about the routers that make a request noticeably more expensive: they cost more
// CPU time than the baseline by at least the share noticeable of a request. A router is not decided if
// the interval of its difference contains that limit. addImpact adds nothing if the cost of a request
// was not measured.
func (a *adviser) addImpact(lines []string) []string {
	request := a.requestCost()
	if request <= 0 {
		return lines
	}
	var expensive, undecided []string
	measured := a.cpuReading().Measured()
	limit := noticeable * request // ns
	for _, c := range measured {
		least, most := (c.Low-1)*c.AgainstValue, (c.High-1)*c.AgainstValue // ns more than the baseline
		switch {
		case least > limit:
			expensive = append(expensive, c.Contender)
		case most > limit:
			undecided = append(undecided, c.Contender)
		}
	}
	share := advice.FormatPercent(noticeable)
	switch {
	case len(measured) == 0:
		return lines
	case len(expensive)+len(undecided) == 0:
		return append(lines, fmt.Sprintf("No measured router costs a request %s more CPU time than %s does: choose by what they answer and what they bring, not by speed.", share, routerName(a.Baseline)))
	case len(expensive) == len(measured):
		return append(lines, fmt.Sprintf("All that were measured cost a request more than %s more CPU time than %s does.", share, routerName(a.Baseline)))
	}
	var parts []string
	if len(expensive) > 0 {
		parts = append(parts, "more: "+advice.JoinNames(expensive))
	}
	if len(undecided) > 0 {
		parts = append(parts, "not decided: "+advice.JoinNames(undecided))
	}
	return append(lines, fmt.Sprintf("%d of %d routers cost a request at most %s more CPU time than %s does (%s): among those choose by what they answer and what they bring, not by speed.",
		len(measured)-len(expensive)-len(undecided), len(measured), share, routerName(a.Baseline), strings.Join(parts, "; ")))
}

// describeSemantics returns a clause about the semantics tests in which a router differs from
// net/http.
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

// registeredRE matches a remark such as " (registered at main.go:27)" about tare's program. The message
// may end within it.
var registeredRE = lazyregexp.New(`\s*\(registered at [^)]*(\)|$)`)

// listRejected returns a line about each router that could not be measured.
func listRejected(r *tare.Result) []string {
	var out []string
	for _, t := range r.Trials {
		if t.Error == nil || t.Round > 0 { // a router that rejects the routes fails before the first round
			continue
		}
		why, ok := strings.CutPrefix(t.Error.Message, "prepare: ")
		if !ok {
			out = append(out, fmt.Sprintf("%s could not be measured: %s.", t.Contender, strings.TrimSuffix(t.Error.Message, ".")))
			continue
		}
		for _, prefix := range []string{"load: ", "internal: ", sdk.Refusal} {
			why = strings.TrimPrefix(why, prefix)
		}
		why = registeredRE.ReplaceAllString(why, "")
		out = append(out, fmt.Sprintf("%s cannot have these routes: %s.", routerName(t.Contender), strings.TrimSuffix(why, ".")))
	}
	return out
}

func routerName(id string) string {
	if id == Baseline {
		return "net/http"
	}
	return id
}
