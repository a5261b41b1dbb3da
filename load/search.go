package load

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Trial is one leg that a search asks for.
type Trial struct {
	Connections int
	Rate        float64 // requests per second in an open loop; zero: a closed one
}

// Runner carries trials out.
type Runner interface {
	Run(ctx context.Context, t Trial) (*Result, Facts, error)
}

// DefaultErrors is the objective on errors of a search that is given none:
// what answers fast because it refuses has no capacity.
const DefaultErrors = 0.001

// Searching says what is searched for. SLO is needed; every other zero value
// works.
type Searching struct {
	SLO   SLO
	First int              // connections of the first step; zero: 1
	Most  int              // connections of the last; zero: 1024
	Told  func(SearchStep) // of every step, as it is done; nil: nobody is told
}

// SearchStep is one trial and what came of it.
type SearchStep struct {
	Trial      Trial
	Result     *Result
	Facts      Facts
	Assessment Assessment
	Outcomes   []Outcome
	Ruling     tare.Ruling // met, not met, inconclusive: too few answers; void: the load generator was the limit
	Why        string      // where it is not met: one sentence
	Undecided  bool        // inconclusive because an interval decides nothing, however many answers there were
}

// PerSecond is the rate of answers.
func (s SearchStep) PerSecond() float64 { return perSecond(s.Result) }

// Search is what was found.
type Search struct {
	SLO         SLO // with the objective on errors
	Steps       []SearchStep
	Ruling      tare.Ruling // met: found and confirmed; not met: not even the first step; inconclusive; void: the load generator was the limit
	PerSecond   float64     // where it is met: the rate that was confirmed
	AtLeast     float64     // the highest rate of a step that was met; zero: none was
	Connections int         // of that step
	Sentence    string
}

const (
	flat       = 1.05 // a doubling of connections that brings less has brought nothing
	flatEnough = 2    // such doublings in a row
)

// shares of the rate found in a closed loop that are tried in an open one,
// until one is met.
func shares() []float64 { return []float64{0.95, 0.85, 0.75, 0.65} }

// Run finds the most requests per second at which the server keeps its
// objectives. Connections are doubled in a closed loop until an objective is
// missed or the rate stays where it is, and the place between the last step
// that is met and the first that is not is halved. The best rate is then
// confirmed in an open loop at 95 % of it, on twice the connections, because
// clients do not wait for each other's answers; where that is not met, lower
// shares are tried.
//
// A step at which the load generator itself is the limit ends the search, and
// its ruling is void. The error is the runner's; what was found before is
// returned with it.
func (s Searching) Run(ctx context.Context, r Runner) (Search, error) {
	x := &search{Searching: s, runner: r}
	if x.First <= 0 {
		x.First = 1
	}
	if x.Most <= 0 {
		x.Most = 1024
	}
	x.found.SLO = withErrors(s.SLO)
	err := x.climb(ctx)
	if err == nil && !x.ended() {
		err = x.halve(ctx)
	}
	if err == nil && !x.ended() && x.best() != nil {
		err = x.confirm(ctx)
	}
	x.conclude(err)
	return x.found, err
}

// withErrors adds the default objective on errors to one without.
func withErrors(s SLO) SLO {
	for _, o := range s {
		if o.Errors {
			return s
		}
	}
	return append(append(SLO(nil), s...), Objective{Errors: true, Limit: DefaultErrors})
}

// search is one search under way.
type search struct {
	Searching
	runner Runner
	found  Search
	lo, hi int // connections of the last step met, and of the first not met; zero: none
}

// step carries one trial out.
func (x *search) step(ctx context.Context, t Trial) (SearchStep, error) {
	result, facts, err := x.runner.Run(ctx, t)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return SearchStep{}, err
	}
	s := SearchStep{Trial: t, Result: result, Facts: facts, Assessment: Assess(result, facts), Outcomes: x.found.SLO.Hold(result)}
	s.rule()
	x.found.Steps = append(x.found.Steps, s)
	if x.Told != nil {
		x.Told(s)
	}
	return s, nil
}

// rule says whether the server kept its objectives at a step.
func (s *SearchStep) rule() {
	switch void := voided(s.Assessment); {
	case s.Assessment.Limit == LimitClient:
		s.Ruling, s.Why = tare.VoidRuling, s.Assessment.Why
		return
	case void != nil && void.Check == "rate-held" && s.Trial.Rate > 0:
		s.Ruling, s.Why = tare.NotMet, void.Message
		return
	case void != nil:
		s.Ruling, s.Why = tare.VoidRuling, void.Message
		return
	}
	s.Ruling, s.Why, s.Undecided = rule(s.Outcomes)
}

// rule rules on all objectives together. Why is empty if they are met; undecided says
// that an interval is why they have no verdict.
func rule(outcomes []Outcome) (ruling tare.Ruling, why string, undecided bool) {
	var thin, none, doubtful []string
	for _, o := range outcomes {
		switch {
		case o.Thin && o.Objective.Quantile == 0:
			none = append(none, o.Objective.figure())
		case o.Thin:
			thin = append(thin, o.Objective.figure())
		case o.Undecided:
			doubtful = append(doubtful, o.Interval())
		case !o.Met:
			return tare.NotMet, o.String(), false
		}
	}
	switch {
	case len(none) > 0:
		return tare.Inconclusive, "no answer has a " + strings.Join(none, " or "), false
	case len(thin) > 0:
		return tare.Inconclusive, fmt.Sprintf("fewer than %d answers lie beyond %s", tails, strings.Join(thin, " and ")), false
	case len(doubtful) > 0:
		return tare.Inconclusive, "undecided: " + strings.Join(doubtful, "; "), true
	}
	return tare.Met, "", false
}

// Intervals say what the objectives of a step rest on; empty: there are none.
func (s SearchStep) Intervals() string {
	var list []string
	for _, o := range s.Outcomes {
		if text := o.Interval(); text != "" {
			list = append(list, text)
		}
	}
	return strings.Join(list, "; ")
}

func voided(a Assessment) *tare.Finding {
	for i := range a.Findings {
		if a.Findings[i].Severity == tare.Void {
			return &a.Findings[i]
		}
	}
	return nil
}

// climb doubles the connections.
func (x *search) climb(ctx context.Context) error {
	before, still := 0.0, 0
	for c := x.First; ; c = min(2*c, x.Most) {
		s, err := x.step(ctx, Trial{Connections: c})
		if err != nil {
			return err
		}
		switch s.Ruling {
		case tare.Met:
			x.lo = c
		case tare.NotMet:
			x.hi = c
			return nil
		case tare.VoidRuling:
			return nil
		default:
			if s.Undecided { // it is about as much as the server can do
				x.hi = c
				return nil
			}
		}
		if still++; s.PerSecond() >= flat*before {
			still = 0
		}
		if before = max(before, s.PerSecond()); still >= flatEnough || c >= x.Most {
			return nil
		}
	}
}

// halve halves the way between the last step met and the first not met, until
// an eighth is left of it.
func (x *search) halve(ctx context.Context) error {
	for x.hi > 0 && x.hi-x.lo > max(1, x.lo/8) {
		c := (x.lo + x.hi) / 2
		s, err := x.step(ctx, Trial{Connections: c})
		if err != nil {
			return err
		}
		switch s.Ruling {
		case tare.Met:
			x.lo = c
		case tare.VoidRuling:
			return nil
		default:
			x.hi = c
		}
	}
	return nil
}

// confirm holds the rate that was found against requests that wait for nobody.
func (x *search) confirm(ctx context.Context) error {
	best := x.best()
	for _, share := range shares() {
		s, err := x.step(ctx, Trial{Connections: 2 * best.Trial.Connections, Rate: min(share*best.PerSecond(), MaxRate)})
		if err != nil || s.Ruling != tare.NotMet && !s.Undecided {
			return err
		}
	}
	return nil
}

// ended reports whether the last step was void.
func (x *search) ended() bool { return x.last().Ruling == tare.VoidRuling }

func (x *search) last() SearchStep {
	if len(x.found.Steps) == 0 {
		return SearchStep{}
	}
	return x.found.Steps[len(x.found.Steps)-1]
}

// doubt is why the first step that was not ruled on was not; empty: all were.
func (x *search) doubt() string {
	for _, s := range x.found.Steps {
		if s.Ruling == tare.Inconclusive {
			return s.Why
		}
	}
	return ""
}

// best is the step in a closed loop that was met with the highest rate; nil:
// none was.
func (x *search) best() *SearchStep {
	var best *SearchStep
	for i := range x.found.Steps {
		s := &x.found.Steps[i]
		if s.Ruling == tare.Met && s.Trial.Rate == 0 && (best == nil || s.PerSecond() > best.PerSecond()) {
			best = s
		}
	}
	return best
}

// conclude puts what was found into a ruling and a sentence.
func (x *search) conclude(err error) {
	f, last, best := &x.found, x.last(), x.best()
	least := ""
	if best != nil {
		f.AtLeast, f.Connections = best.PerSecond(), best.Trial.Connections
		least = fmt.Sprintf("; with %s it kept %v at %s requests per second", countOf(f.Connections), f.SLO, figure(f.AtLeast))
	}
	switch {
	case err != nil:
		f.Ruling, f.Sentence = tare.Inconclusive, "the search was cut short"+least
	case x.ended():
		f.Ruling = tare.VoidRuling
		f.Sentence = fmt.Sprintf("the server's capacity is unknown: at %s, %s%s", last.Trial, last.Why, least)
	case best == nil && x.doubt() == "":
		f.Ruling, f.Sentence = tare.NotMet, fmt.Sprintf("%v is missed even at %s: %s", f.SLO, last.Trial, last.Why)
	case best == nil:
		f.Ruling, f.Sentence = tare.Inconclusive, fmt.Sprintf("%v has no verdict: %s; measure for longer (-d)", f.SLO, x.doubt())
	case last.Trial.Rate > 0 && last.Ruling == tare.Met:
		f.Ruling, f.PerSecond = tare.Met, last.PerSecond()
		f.Sentence = fmt.Sprintf("the server keeps %v at %s requests per second, in an open loop; with %s that wait for their answers it was %s",
			f.SLO, figure(f.PerSecond), countOf(f.Connections), figure(f.AtLeast))
	case last.Ruling == tare.Inconclusive && !last.Undecided:
		f.Ruling, f.Sentence = tare.Inconclusive, "too few answers to confirm it in an open loop, "+last.Why+least
	default:
		f.Ruling = tare.Inconclusive
		f.Sentence = fmt.Sprintf("not even %s of the rate found could be confirmed in an open loop: %s%s", format.Percent(shares()[len(shares())-1]), last.Why, least)
	}
}

// String is the trial in words.
func (t Trial) String() string {
	if t.Rate > 0 {
		return figure(t.Rate) + " requests per second"
	}
	return countOf(t.Connections)
}

// perSecond is the rate of whole answers.
func perSecond(r *Result) float64 {
	if r == nil || r.Wall <= 0 {
		return 0
	}
	return float64(r.Requests) / r.Wall.Seconds()
}
