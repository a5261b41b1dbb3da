package load

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Trial is one phase of a search for the highest rate at which a server meets its objectives.
type Trial struct {
	Connections int
	Rate        float64 // requests per second of an open loop; 0 means a closed loop
}

// Runner executes trials.
type Runner interface {
	Run(ctx context.Context, t Trial) (*Result, Facts, error)
}

// DefaultErrors is the default bound on the share of errors in a search. Without one, a server that quickly
// rejects requests would seem fast.
const DefaultErrors = 0.001

// Searching defines a search. SLO is required; every other field has a default.
type Searching struct {
	SLO   SLO
	First int              // connections of the first step; 0 means 1
	Most  int              // largest number of connections of a closed loop; 0 means 1024
	Told  func(SearchStep) // receives every step; may be nil
}

// SearchStep is one trial and its outcome.
type SearchStep struct {
	Trial      Trial
	Result     *Result
	Facts      Facts
	Assessment Assessment
	Outcomes   []Outcome
	Ruling     tare.Ruling // met, not met, inconclusive (too few responses, or Undecided) or void (the load generator was the limit)
	Why        string      // one sentence; "" if Ruling is met
	Undecided  bool        // inconclusive despite enough responses: an interval contains the allowed value
}

// PerSecond returns the rate of responses.
func (s SearchStep) PerSecond() float64 { return responseRate(s.Result) }

// Search is the result of a search.
type Search struct {
	SLO         SLO // with an objective on errors
	Steps       []SearchStep
	Ruling      tare.Ruling // met: a rate was confirmed; not met: the first step missed an objective; void: the load generator was the limit
	PerSecond   float64     // the confirmed rate if Ruling is met, otherwise 0
	AtLeast     float64     // highest rate of a closed-loop step that was met, or 0
	Connections int         // connections of that step, or 0
	Sentence    string      // the result in words
}

const (
	minGain          = 1.05 // least gain by doubling the connections
	maxFlatDoublings = 2    // doublings in a row without a gain that end the search
)

// confirmShares returns the shares of the best closed-loop rate that are tried in an open loop, in order.
func confirmShares() []float64 { return []float64{0.95, 0.85, 0.75, 0.65} }

// Run finds the highest rate of requests at which the server meets its objectives.
//
//  1. It doubles the connections of a closed loop until an objective is missed or
//
//     the rate no longer rises.
//
//  2. It bisects the connections between the last step that met the objectives and
//
//     the first step that did not.
//
//  3. It confirms 95 % of the best rate in an open loop, on twice the connections.
//
//     Real clients do not wait for each other's responses. If an objective
//
//     is missed, it tries lower shares.
//
// If the load generator is the limit in a step, the search ends as void. If the runner fails, Run returns
// the error and the search so far.
func (s Searching) Run(ctx context.Context, r Runner) (Search, error) {
	x := &search{Searching: s, runner: r}
	if x.First <= 0 {
		x.First = 1
	}
	if x.Most <= 0 {
		x.Most = 1024
	}
	x.found.SLO = withErrors(s.SLO)
	err := x.doubleConns(ctx)
	if err == nil && !x.isVoid() {
		err = x.bisectConns(ctx)
	}
	if err == nil && !x.isVoid() && x.bestStep() != nil {
		err = x.confirmRate(ctx)
	}
	x.conclude(err)
	return x.found, err
}

func withErrors(s SLO) SLO {
	for _, o := range s {
		if o.Errors {
			return s
		}
	}
	return append(append(SLO(nil), s...), Objective{Errors: true, Limit: DefaultErrors})
}

// search is a search that is running.
type search struct {
	Searching
	runner                Runner
	found                 Search
	metConns, missedConns int // connections of the last step that met all objectives, and of the first that did not; 0 means none
}

func (x *search) runStep(ctx context.Context, t Trial) (SearchStep, error) {
	result, facts, err := x.runner.Run(ctx, t)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return SearchStep{}, err
	}
	s := SearchStep{Trial: t, Result: result, Facts: facts, Assessment: Assess(result, facts), Outcomes: x.found.SLO.Hold(result)}
	s.judge()
	x.found.Steps = append(x.found.Steps, s)
	if x.Told != nil {
		x.Told(s)
	}
	return s, nil
}

func (s *SearchStep) judge() {
	switch void := findVoid(s.Assessment); {
	case s.Assessment.Limit == LimitClient:
		s.Ruling, s.Why = tare.VoidRuling, s.Assessment.Why
		return
	case void != nil && void.Check == "rate-held" && s.Trial.Rate > 0: // the server did not reach the rate
		s.Ruling, s.Why = tare.NotMet, void.Message
		return
	case void != nil:
		s.Ruling, s.Why = tare.VoidRuling, void.Message
		return
	}
	s.Ruling, s.Why, s.Undecided = judgeOutcomes(s.Outcomes)
}

// judgeOutcomes returns the ruling on all objectives together. why is "" if they are met. undecided means
// that an interval contains the allowed value.
func judgeOutcomes(outcomes []Outcome) (ruling tare.Ruling, why string, undecided bool) {
	var tooFew, noneOf []string
	var openIntervals []string
	for _, o := range outcomes {
		switch {
		case o.Thin && o.Objective.Quantile == 0:
			noneOf = append(noneOf, o.Objective.figureName())
		case o.Thin:
			tooFew = append(tooFew, o.Objective.figureName())
		case o.Undecided:
			openIntervals = append(openIntervals, o.Interval())
		case !o.Met:
			return tare.NotMet, o.String(), false
		}
	}
	switch {
	case len(noneOf) > 0:
		return tare.Inconclusive, "no answer has a " + strings.Join(noneOf, " or "), false
	case len(tooFew) > 0:
		return tare.Inconclusive, fmt.Sprintf("fewer than %d answers lie beyond %s", minTail, strings.Join(tooFew, " and ")), false
	case len(openIntervals) > 0:
		return tare.Inconclusive, "undecided: " + strings.Join(openIntervals, "; "), true
	}
	return tare.Met, "", false
}

// Intervals returns the intervals of the objectives of a step, or "" without any.
func (s SearchStep) Intervals() string {
	var list []string
	for _, o := range s.Outcomes {
		if text := o.Interval(); text != "" {
			list = append(list, text)
		}
	}
	return strings.Join(list, "; ")
}

func findVoid(a Assessment) *tare.Finding {
	for i := range a.Findings {
		if a.Findings[i].Severity == tare.Void {
			return &a.Findings[i]
		}
	}
	return nil
}

func (x *search) doubleConns(ctx context.Context) error {
	bestRate, flat := 0.0, 0 // flat counts the last doublings without a gain
	for c := x.First; ; c = min(2*c, x.Most) {
		s, err := x.runStep(ctx, Trial{Connections: c})
		if err != nil {
			return err
		}
		switch s.Ruling {
		case tare.Met:
			x.metConns = c
		case tare.NotMet:
			x.missedConns = c
			return nil
		case tare.VoidRuling:
			return nil
		default:
			if s.Undecided { // the step is close to the capacity of the server
				x.missedConns = c
				return nil
			}
		}
		if s.PerSecond() >= minGain*bestRate {
			flat = 0
		} else {
			flat++
		}
		bestRate = max(bestRate, s.PerSecond())
		if flat >= maxFlatDoublings || c >= x.Most {
			return nil
		}
	}
}

// bisectConns narrows the connections between metConns and missedConns, to a difference of an eighth.
func (x *search) bisectConns(ctx context.Context) error {
	for x.missedConns > 0 && x.missedConns-x.metConns > max(1, x.metConns/8) {
		c := (x.metConns + x.missedConns) / 2
		s, err := x.runStep(ctx, Trial{Connections: c})
		if err != nil {
			return err
		}
		switch s.Ruling {
		case tare.Met:
			x.metConns = c
		case tare.VoidRuling:
			return nil
		default:
			x.missedConns = c
		}
	}
	return nil
}

func (x *search) confirmRate(ctx context.Context) error {
	best := x.bestStep()
	for _, share := range confirmShares() {
		s, err := x.runStep(ctx, Trial{Connections: 2 * best.Trial.Connections, Rate: min(share*best.PerSecond(), MaxRate)})
		tryLower := s.Ruling == tare.NotMet || s.Undecided
		if err != nil || !tryLower {
			return err
		}
	}
	return nil
}

func (x *search) isVoid() bool { return x.lastStep().Ruling == tare.VoidRuling }

func (x *search) lastStep() SearchStep {
	if len(x.found.Steps) == 0 {
		return SearchStep{}
	}
	return x.found.Steps[len(x.found.Steps)-1]
}

// whyInconclusive returns the reason of the first inconclusive step, or "".
func (x *search) whyInconclusive() string {
	for _, s := range x.found.Steps {
		if s.Ruling == tare.Inconclusive {
			return s.Why
		}
	}
	return ""
}

// bestStep returns the best closed-loop step that met the objectives, or nil.
func (x *search) bestStep() *SearchStep {
	var best *SearchStep
	for i := range x.found.Steps {
		s := &x.found.Steps[i]
		if s.Ruling == tare.Met && s.Trial.Rate == 0 && (best == nil || s.PerSecond() > best.PerSecond()) {
			best = s
		}
	}
	return best
}

func (x *search) conclude(err error) {
	f, last, best := &x.found, x.lastStep(), x.bestStep()
	atLeast := "" // end of a sentence
	if best != nil {
		f.AtLeast, f.Connections = best.PerSecond(), best.Trial.Connections
		atLeast = fmt.Sprintf("; with %s it kept %v at %s requests per second", formatConnections(f.Connections), f.SLO, formatNumber(f.AtLeast))
	}
	switch {
	case err != nil:
		f.Ruling, f.Sentence = tare.Inconclusive, "the search was cut short"+atLeast
	case x.isVoid():
		f.Ruling = tare.VoidRuling
		f.Sentence = fmt.Sprintf("the server's capacity is unknown: at %s, %s%s", last.Trial, last.Why, atLeast)
	case best == nil && x.whyInconclusive() == "":
		f.Ruling, f.Sentence = tare.NotMet, fmt.Sprintf("%v is missed even at %s: %s", f.SLO, last.Trial, last.Why)
	case best == nil:
		f.Ruling, f.Sentence = tare.Inconclusive, fmt.Sprintf("%v has no verdict: %s; measure for longer (-d)", f.SLO, x.whyInconclusive())
	case last.Trial.Rate > 0 && last.Ruling == tare.Met:
		f.Ruling, f.PerSecond = tare.Met, last.PerSecond()
		f.Sentence = fmt.Sprintf("the server keeps %v at %s requests per second, in an open loop; with %s that wait for their answers it was %s",
			f.SLO, formatNumber(f.PerSecond), formatConnections(f.Connections), formatNumber(f.AtLeast))
	case last.Ruling == tare.Inconclusive && !last.Undecided:
		f.Ruling, f.Sentence = tare.Inconclusive, "too few answers to confirm it in an open loop, "+last.Why+atLeast
	default:
		f.Ruling = tare.Inconclusive
		f.Sentence = fmt.Sprintf("not even %s of the rate found could be confirmed in an open loop: %s%s", format.Percent(confirmShares()[len(confirmShares())-1]), last.Why, atLeast)
	}
}

// String returns the trial in words.
func (t Trial) String() string {
	if t.Rate > 0 {
		return formatNumber(t.Rate) + " requests per second"
	}
	return formatConnections(t.Connections)
}

func responseRate(r *Result) float64 {
	if r == nil || r.Wall <= 0 {
		return 0
	}
	return float64(r.Requests) / r.Wall.Seconds()
}
