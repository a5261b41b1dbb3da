package load

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Trial is one phase of a search.
type Trial struct {
	Connections int
	Rate        float64 // requests per second in an open loop; zero: a closed one
}

// Runner executes trials.
type Runner interface {
	Run(ctx context.Context, t Trial) (*Result, Facts, error)
}

// DefaultErrors is the objective on errors of a search without one: a server that responds fast because it
// rejects requests has no capacity.
const DefaultErrors = 0.001

// Searching defines a search. SLO is needed; every other zero value works.
type Searching struct {
	SLO   SLO
	First int              // connections of the first step; zero: 1
	Most  int              // connections of the last; zero: 1024
	Told  func(SearchStep) // called after every step, if not nil
}

// SearchStep is one trial and its outcome.
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

// PerSecond returns the rate of responses.
func (s SearchStep) PerSecond() float64 { return responseRate(s.Result) }

// Search is the result of a search.
type Search struct {
	SLO         SLO // with the objective on errors
	Steps       []SearchStep
	Ruling      tare.Ruling // met: found and confirmed; not met: not even the first step; inconclusive; void: the load generator was the limit
	PerSecond   float64     // where it is met: the rate that was confirmed
	AtLeast     float64     // the highest rate of a step that was met, or 0
	Connections int         // of that step
	Sentence    string
}

const (
	minGain = 1.05 // a doubling of connections with a smaller factor has brought nothing
	maxFlat = 2    // such doublings in a row
)

// confirmShares returns the shares of the rate found in a closed loop that are tried in an open one, until one
// is met.
func confirmShares() []float64 { return []float64{0.95, 0.85, 0.75, 0.65} }

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

// withErrors adds the default objective on errors to one without.
func withErrors(s SLO) SLO {
	for _, o := range s {
		if o.Errors {
			return s
		}
	}
	return append(append(SLO(nil), s...), Objective{Errors: true, Limit: DefaultErrors})
}

// search is one running search.
type search struct {
	Searching
	runner                Runner
	found                 Search
	metConns, missedConns int // connections of the last step met, and of the first not met, or 0
}

// runStep runs one trial and adds its step.
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

// judge sets the ruling of a step.
func (s *SearchStep) judge() {
	switch void := findVoid(s.Assessment); {
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
	s.Ruling, s.Why, s.Undecided = judgeOutcomes(s.Outcomes)
}

// judgeOutcomes returns the ruling on all objectives together. why is "" if they are met; undecided means that
// an interval is the reason for no verdict.
func judgeOutcomes(outcomes []Outcome) (ruling tare.Ruling, why string, undecided bool) {
	var thin, none, doubtful []string
	for _, o := range outcomes {
		switch {
		case o.Thin && o.Objective.Quantile == 0:
			none = append(none, o.Objective.figureName())
		case o.Thin:
			thin = append(thin, o.Objective.figureName())
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
		return tare.Inconclusive, fmt.Sprintf("fewer than %d answers lie beyond %s", minTail, strings.Join(thin, " and ")), false
	case len(doubtful) > 0:
		return tare.Inconclusive, "undecided: " + strings.Join(doubtful, "; "), true
	}
	return tare.Met, "", false
}

// Intervals returns the intervals of the objectives of a step, or "" if there are none.
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

// doubleConns doubles the connections until an objective is missed, the rate no longer rises, or the maximum
// is reached.
func (x *search) doubleConns(ctx context.Context) error {
	before, still := 0.0, 0
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
			if s.Undecided { // it is close to the server's capacity
				x.missedConns = c
				return nil
			}
		}
		if still++; s.PerSecond() >= minGain*before {
			still = 0
		}
		if before = max(before, s.PerSecond()); still >= maxFlat || c >= x.Most {
			return nil
		}
	}
}

// bisectConns bisects between the last step met and the first not met, until they differ by at most an eighth.
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

// confirmRate tries shares of the best rate in an open loop, whose requests do not wait for responses.
func (x *search) confirmRate(ctx context.Context) error {
	best := x.bestStep()
	for _, share := range confirmShares() {
		s, err := x.runStep(ctx, Trial{Connections: 2 * best.Trial.Connections, Rate: min(share*best.PerSecond(), MaxRate)})
		if err != nil || s.Ruling != tare.NotMet && !s.Undecided {
			return err
		}
	}
	return nil
}

// isVoid reports whether the last step was void.
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

// bestStep returns the step of a closed loop that was met with the highest rate, or nil.
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

// conclude sets the ruling and the sentence of the search.
func (x *search) conclude(err error) {
	f, last, best := &x.found, x.lastStep(), x.bestStep()
	least := ""
	if best != nil {
		f.AtLeast, f.Connections = best.PerSecond(), best.Trial.Connections
		least = fmt.Sprintf("; with %s it kept %v at %s requests per second", formatConnections(f.Connections), f.SLO, formatNumber(f.AtLeast))
	}
	switch {
	case err != nil:
		f.Ruling, f.Sentence = tare.Inconclusive, "the search was cut short"+least
	case x.isVoid():
		f.Ruling = tare.VoidRuling
		f.Sentence = fmt.Sprintf("the server's capacity is unknown: at %s, %s%s", last.Trial, last.Why, least)
	case best == nil && x.whyInconclusive() == "":
		f.Ruling, f.Sentence = tare.NotMet, fmt.Sprintf("%v is missed even at %s: %s", f.SLO, last.Trial, last.Why)
	case best == nil:
		f.Ruling, f.Sentence = tare.Inconclusive, fmt.Sprintf("%v has no verdict: %s; measure for longer (-d)", f.SLO, x.whyInconclusive())
	case last.Trial.Rate > 0 && last.Ruling == tare.Met:
		f.Ruling, f.PerSecond = tare.Met, last.PerSecond()
		f.Sentence = fmt.Sprintf("the server keeps %v at %s requests per second, in an open loop; with %s that wait for their answers it was %s",
			f.SLO, formatNumber(f.PerSecond), formatConnections(f.Connections), formatNumber(f.AtLeast))
	case last.Ruling == tare.Inconclusive && !last.Undecided:
		f.Ruling, f.Sentence = tare.Inconclusive, "too few answers to confirm it in an open loop, "+last.Why+least
	default:
		f.Ruling = tare.Inconclusive
		f.Sentence = fmt.Sprintf("not even %s of the rate found could be confirmed in an open loop: %s%s", format.Percent(confirmShares()[len(confirmShares())-1]), last.Why, least)
	}
}

// String returns the trial in words.
func (t Trial) String() string {
	if t.Rate > 0 {
		return formatNumber(t.Rate) + " requests per second"
	}
	return formatConnections(t.Connections)
}

// responseRate returns the rate of complete responses.
func responseRate(r *Result) float64 {
	if r == nil || r.Wall <= 0 {
		return 0
	}
	return float64(r.Requests) / r.Wall.Seconds()
}
