package rerun

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
)

// This file compares the result of tare rerun, which repeats a measurement, with the older result. Are
// the verdicts the same, and do the intervals overlap? Then is the older run and Now the new one.

type rerunComparison struct {
	Study    string         `json:"study"`
	Then     rerunRun       `json:"then"`
	Now      rerunRun       `json:"now"`
	Verdicts []rerunVerdict `json:"verdicts"`
	Claims   []rerunClaim   `json:"claims"`
	Differs  []string       `json:"differs"` // differences of the conditions, a line each: Go, modules, processor, kernel, tare
}

type rerunRun struct {
	Started time.Time `json:"started"` // UTC
	Seed    string    `json:"seed"`
	Rounds  int       `json:"rounds_done"`
	Stopped string    `json:"stopped"`
}

// rerunVerdict compares a verdict of both runs. Then or Now is null if that run has no such verdict.
type rerunVerdict struct {
	Contender string     `json:"contender"`
	Workload  string     `json:"workload"`
	Metric    string     `json:"metric"`
	Criterion string     `json:"criterion,omitempty"`
	Then      *rerunSide `json:"then"`
	Now       *rerunSide `json:"now"`
	Verdict   string     `json:"verdict"`   // same, changed, only then, or only now; "" without a criterion
	Intervals string     `json:"intervals"` // overlap, do not overlap, or unknown if a side has no interval
}

// rerunSide is the verdict of one run, with the value that it judges.
type rerunSide struct {
	Verdict tare.Ruling `json:"verdict,omitempty"`
	Figure  float64     `json:"figure"` // a value in Unit, or a ratio to the baseline if Unit is ""
	Low     float64     `json:"low"`    // 0, like High, if there are too few rounds for an interval
	High    float64     `json:"high"`
	Unit    string      `json:"unit,omitempty"`
}

// rerunClaim compares the outcomes of a claim, a published statement that a study tests. An outcome is
// "" if that run does not have the claim.
type rerunClaim struct {
	ID   string       `json:"id"`
	Then tare.Outcome `json:"then,omitempty"`
	Now  tare.Outcome `json:"now,omitempty"`
	Same bool         `json:"same"`
}

// Values of rerunVerdict.Intervals.
const (
	intervalsOverlap = "overlap"
	intervalsDiffer  = "do not overlap"
	intervalsUnknown = "unknown"
)

// Values of rerunVerdict.Verdict.
const (
	verdictSame     = "same"
	verdictChanged  = "changed"
	verdictOnlyThen = "only then"
	verdictOnlyNow  = "only now"
)

func compareRuns(old, now *tare.Result) rerunComparison {
	return rerunComparison{
		Study: now.Study, Then: newRun(old), Now: newRun(now),
		Verdicts: compareVerdicts(old, now), Claims: compareClaims(old, now), Differs: describeDifferences(old, now),
	}
}

// compareVerdicts compares the verdicts of both runs, in the order of now. It drops a verdict
// without a criterion if the same ratio has one with a criterion.
func compareVerdicts(old, now *tare.Result) []rerunVerdict {
	verdicts := []rerunVerdict{}
	type key struct{ contender, workload, metric, criterion string }
	indices := map[key]int{} // indices in verdicts
	findOrAdd := func(v tare.Verdict) *rerunVerdict {
		k := key{v.Contender, v.Workload, v.Metric, v.Criterion}
		i, ok := indices[k]
		if !ok {
			i = len(verdicts)
			indices[k] = i
			verdicts = append(verdicts, rerunVerdict{Contender: v.Contender, Workload: v.Workload, Metric: v.Metric, Criterion: v.Criterion})
		}
		return &verdicts[i]
	}
	for _, v := range now.Verdicts {
		findOrAdd(v).Now = newSide(now, v)
	}
	for _, v := range old.Verdicts {
		findOrAdd(v).Then = newSide(old, v)
	}
	hasCriterion := map[[3]string]bool{} // by rerunVerdict.key
	for i := range verdicts {
		v := &verdicts[i]
		v.decide()
		hasCriterion[v.key()] = hasCriterion[v.key()] || v.Criterion != ""
	}
	return slices.DeleteFunc(verdicts, func(v rerunVerdict) bool { return v.Criterion == "" && hasCriterion[v.key()] })
}

// compareClaims compares the outcomes of the claims of now with those in old. It omits reported
// claims, which nothing measures.
func compareClaims(old, now *tare.Result) []rerunClaim {
	oldOutcomes := map[string]tare.Outcome{}
	for _, claim := range old.Claims {
		oldOutcomes[claim.ID] = claim.Outcome
	}
	claims := []rerunClaim{}
	for _, claim := range now.Claims {
		if claim.Kind != tare.ClaimReported {
			then := oldOutcomes[claim.ID]
			claims = append(claims, rerunClaim{ID: claim.ID, Then: then, Now: claim.Outcome, Same: then == claim.Outcome})
		}
	}
	return claims
}

// describeDifferences returns a line for each condition that differs, such as "tare was v0.4.0 then
// and is v0.5.0 now".
func describeDifferences(old, now *tare.Result) []string {
	lines := []string{}
	for _, f := range check.Stale(old, now) {
		text := f.Message
		if f.Contender != "" {
			text = f.Contender + ": " + text
		}
		lines = append(lines, text)
	}
	lines = append(lines, history.DescribeRebuilt(old, now)...)
	if old.Tare != "" && old.Tare != now.Tare {
		lines = append(lines, "tare was "+old.Tare+" then and is "+now.Tare+" now")
	}
	return lines
}

func newRun(r *tare.Result) rerunRun {
	return rerunRun{Started: r.Started.UTC(), Seed: r.Seed, Rounds: r.RoundsDone, Stopped: r.Stopped}
}

// newSide returns a verdict of r with the value that it judges: that of the contender, or its ratio
// to the baseline. Figure is 0 if r does not have the value.
func newSide(r *tare.Result, v tare.Verdict) *rerunSide {
	side := &rerunSide{Verdict: v.Verdict}
	if v.Rule.Kind == tare.RuleValue {
		if x, ok := r.Value(v.Workload, v.Contender, v.Metric); ok {
			side.Figure, side.Low, side.High, side.Unit = x.Value, x.Low, x.High, x.Unit
		}
		return side
	}
	if x, ok := tare.FindComparison(r.Comparisons, v.Workload, v.Contender, v.Metric); ok {
		side.Figure, side.Low, side.High = x.Ratio, x.Low, x.High
	}
	return side
}

func (v rerunVerdict) key() [3]string { return [3]string{v.Contender, v.Workload, v.Metric} }

func (v *rerunVerdict) decide() {
	v.Intervals = intervalsUnknown
	switch {
	case v.Then == nil:
		v.Verdict = verdictOnlyNow
		return
	case v.Now == nil:
		v.Verdict = verdictOnlyThen
		return
	case v.Criterion == "": // no criterion was judged, so Verdict stays ""
	case v.Then.Verdict == v.Now.Verdict:
		v.Verdict = verdictSame
	default:
		v.Verdict = verdictChanged
	}
	hasIntervals := v.Then.High > 0 && v.Now.High > 0 && v.Then.Unit == v.Now.Unit
	switch {
	case !hasIntervals: // stays unknown
	case v.Then.Low > v.Now.High || v.Now.Low > v.Then.High:
		v.Intervals = intervalsDiffer
	default:
		v.Intervals = intervalsOverlap
	}
}

func (v rerunVerdict) subject() string {
	return cmp.Or(strings.TrimSpace(v.Criterion), v.Metric+" ratio")
}

func (v rerunVerdict) describe() string {
	if v.Then == nil || v.Now == nil {
		return v.Verdict // only then, or only now
	}
	type outcome struct{ verdict, intervals string }
	texts := map[outcome]string{
		{"", intervalsUnknown}:             "not known: too few rounds for an interval",
		{"", intervalsOverlap}:             "no change shown: the intervals overlap",
		{"", intervalsDiffer}:              "changed: the intervals do not overlap",
		{verdictSame, intervalsDiffer}:     "same, but the intervals do not overlap",
		{verdictChanged, intervalsOverlap}: "changed, though the intervals overlap",
		{verdictChanged, intervalsDiffer}:  "changed, and the intervals do not overlap",
	}
	return cmp.Or(texts[outcome{v.Verdict, v.Intervals}], v.Verdict)
}

// String returns the verdict with its value and interval, or "-" if s is nil.
func (s *rerunSide) String() string {
	if s == nil {
		return "-"
	}
	figure := "no figure"
	switch {
	case s.Figure == 0 && s.High == 0: // not measured: no figure
	case s.Unit != "":
		figure = fmt.Sprintf("%.4g %s [%.4g, %.4g]", s.Figure, s.Unit, s.Low, s.High)
	case s.High > 0:
		figure = fmt.Sprintf("%s [%s, %s]", format.Ratio(s.Figure), format.Ratio(s.Low), format.Ratio(s.High))
	default:
		figure = format.Ratio(s.Figure)
	}
	if s.Verdict == "" {
		return figure
	}
	return string(s.Verdict) + ", " + figure
}

func (c rerunComparison) writeText(w io.Writer, st report.Style) error {
	c = report.LegibleAll(c)
	writeRun := func(name string, r rerunRun) {
		fmt.Fprintf(w, "  %s  %s UTC, seed %s, %s, stopped: %s\n", name, format.Minute(r.Started), r.Seed, format.Count(r.Rounds, "round"), r.Stopped)
	}
	fmt.Fprintln(w, cmdenv.Paint(st.Bold, c.Study)+" again")
	writeRun("then", c.Then)
	writeRun("now ", c.Now)
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(c.Verdicts) > 0 {
		fmt.Fprintln(tw, "  workload\tcontender\tcriterion\tthen\tnow\tcompared")
		for _, v := range c.Verdicts {
			fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s\t%s\n", v.Workload, v.Contender, v.subject(), v.Then, v.Now, v.describe())
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(c.Claims) > 0 {
		fmt.Fprintln(tw, "\n  claim\tthen\tnow\tcompared")
		for _, x := range c.Claims {
			verdict := verdictSame
			if !x.Same {
				verdict = verdictChanged
			}
			fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", x.ID, cmp.Or(string(x.Then), "-"), cmp.Or(string(x.Now), "-"), verdict)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, "\n"+c.summarize())
	for _, text := range c.Differs {
		fmt.Fprintln(w, "  "+cmdenv.Paint(st.Warn, "differs")+": "+text)
	}
	return nil
}

// summarize returns a sentence with the numbers of equal and different verdicts and intervals.
// Criteria on the same ratio count once.
func (c rerunComparison) summarize() string {
	verdicts, same := 0, 0
	different := map[[3]string]bool{} // pairs of intervals
	for _, v := range c.Verdicts {
		if v.Criterion != "" {
			verdicts++
		}
		if v.Verdict == verdictSame {
			same++
		}
		if v.Intervals == intervalsDiffer {
			different[v.key()] = true
		}
	}
	var parts []string
	if verdicts > 0 {
		parts = append(parts, fmt.Sprintf("%s the same, %d not", format.Count(same, "verdict"), verdicts-same))
	}
	switch len(different) {
	case 0:
		parts = append(parts, "no two intervals lie apart")
	case 1:
		parts = append(parts, "1 pair of intervals does not overlap")
	default:
		parts = append(parts, fmt.Sprintf("%d pairs of intervals do not overlap", len(different)))
	}
	if len(c.Differs) == 0 {
		parts = append(parts, "nothing that is known to matter differs")
	}
	return strings.Join(parts, "; ")
}
