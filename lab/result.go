package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/lab/journal"
)

// makeResult computes the final verdicts and returns the result document.
func (r *run) makeResult(facts tare.Machine) *tare.Result {
	o := r.judgeEvidence(facts, true)
	for i := range r.contenders {
		c := &r.contenders[i]
		if seen, ok := r.exams.Adoption[c.ID]; ok {
			c.Adoption.StartSeconds, c.Adoption.IdleRSSBytes = seen.StartSeconds, seen.IdleRSSBytes
		}
	}
	res := &tare.Result{
		Schema:   tare.ResultSchema,
		Study:    r.study.ID,
		Question: r.study.Question,
		Kind:     r.study.Kind,
		Run: tare.Run{
			Started: r.started.UTC(),
			Seconds: r.elapsedTime().Seconds(),
			Seed:    r.plan.Seed,
			Budget:  r.statedOptions()["budget"],
			Stopped: r.stopped,
			Env:     r.o.recordedEnv(),
			Procs:   r.o.Procs,
			Machine: facts,
		},
		Design: tare.Design{
			Metrics:    r.study.Metrics,
			Contenders: r.contenders,
			Workloads:  r.study.Workloads,
			Plan:       r.plan,
		},
		Measured: tare.Measured{
			RoundsDone:  o.data.Rounds,
			Rounds:      o.effects,
			Values:      o.values,
			Comparisons: o.comparisons,
			Scaling:     o.scaling,
		},
		Judged: tare.Judged{
			Verdicts:    o.verdicts,
			Claims:      o.claims,
			Findings:    o.findings,
			Conformance: r.allConformance(o.data.Trials),
			Semantics:   r.exams.Semantics,
		},
		Analysis: tare.Analysis{
			Cost:     judge.Costs(r.study.Metrics, r.contenders, o.comparisons, o.findings, r.o.At),
			Profiles: r.profiles,

			BreakEven:     judge.BreakEven(o.data, o.findings),
			Decomposition: o.decomposition,
		},

		Expectations: o.expectations,

		Record: tare.Record{
			NotWeighed: r.omitted,
			Trials:     o.data.Trials,
			Journal:    journal.FileName,
		},
	}
	correctSamples(o.data)
	res.Answer, res.Figures, res.Quotes = judge.Answer(r.study, res)
	res.Recommended = judge.Recommended(r.study, res)
	res.Machine.Resolution = judge.Resolution(o.data, o.comparisons)
	for i := range res.Machine.Resolution {
		res.Machine.Resolution[i].Seconds = res.Seconds
	}
	return res
}

// correctSamples sets the values of metrics in samples that slices measure to those that
// comparisons use: the CPU time of a process without that of an idle one.
func correctSamples(d evidence.Evidence) {
	for _, t := range d.Trials {
		for workload, sample := range t.Samples {
			for _, m := range tare.Metrics() {
				if v, ok := d.Index().InRound(m, evidence.At(t.Round, workload, t.Contender)); ok && m.PerSlice && t.Tau == 1 {
					sample[m.Key] = v
				}
			}
		}
	}
}

// collectEvidence returns the evidence of one look, with marks on the parts that do not count.
func (r *run) collectEvidence(final bool) evidence.Evidence {
	d := evidence.Evidence{Study: r.study, Plan: r.plan, Contenders: r.contenders, Slices: r.slices, Semantics: r.exams.Semantics, Conformance: r.conform, Final: final}
	d.Trials = check.Mark(r.trials, r.slices, r.study.Baseline, r.plan.RoundsPlanned)
	for _, rd := range r.rounds {
		if rd.Tau == 1 {
			d.Rounds++
		}
	}
	return d.Indexed()
}

// measured is everything that is read from the rounds so far.
type measured struct {
	data        evidence.Evidence
	effects     []tare.Effects
	comparisons []tare.Comparison
	scaling     []tare.Scaling
	values      []tare.Value
	findings    []tare.Finding
	verdicts    []tare.Verdict
	claims      []tare.ClaimResult

	decomposition []tare.Decomposition
	expectations  []tare.Expectation
}

// judgeEvidence judges the evidence so far: comparisons first, then the checks that read them, then
// the verdicts that the checks may void.
func (r *run) judgeEvidence(facts tare.Machine, final bool) measured {
	o := measured{data: r.collectEvidence(final)}
	o.effects = judge.Effects(o.data)
	o.comparisons = judge.Compare(o.data, o.effects)
	o.values = judge.Values(o.data)
	o.scaling = judge.Scaling(o.data)
	in := check.Input{
		Evidence: o.data, Effects: o.effects, Comparisons: o.comparisons,
		Scaling: o.scaling, Values: o.values, Machine: facts, Stored: r.o.Stored,
	}
	in.Conformance = r.allConformance(o.data.Trials)
	o.findings = check.Run(in)
	if final {
		o.expectations = check.Expectations(in, o.findings, r.omitted)
	}
	o.comparisons, o.values = judge.Strike(o.data, o.effects, o.comparisons, o.values, o.findings)
	o.verdicts = judge.Verdicts(o.data, o.comparisons, o.findings)
	if final {
		o.decomposition = judge.Decompose(o.data, o.effects, o.comparisons, o.findings)
	}
	o.claims = judge.Claims(o.data, o.comparisons, o.values, o.findings, r.omitted)
	return o
}

// allConformance returns the answers before timing, followed by the results of the samples of the
// rounds that count, one entry for each contender and workload.
func (r *run) allConformance(trials []tare.Trial) []tare.Conformance {
	all := slices.Clone(r.conform)
	at := map[[2]string]int{}
	for _, t := range trials {
		for _, c := range t.Answers {
			if !t.Counts(c.Workload) {
				continue
			}
			key := [2]string{c.Contender, c.Workload}
			i, seen := at[key]
			if !seen {
				at[key] = len(all)
				all = append(all, c)
				continue
			}
			sum := &all[i]
			sum.Cases += c.Cases
			sum.Wrong += c.Wrong
			sum.Bytes += c.Bytes
			sum.MinBytes = min(sum.MinBytes, c.MinBytes)
			if sum.First == "" {
				sum.First = c.First
			}
		}
	}
	return all
}

// statedOptions returns the options as the journal and the result state them.
func (r *run) statedOptions() map[string]string {
	budget := r.o.Budget.String()
	switch {
	case r.o.Rounds > 0:
		budget = fmt.Sprintf("%d rounds", r.o.Rounds)
	case r.o.User:
	case r.o.Quick:
		budget = "quick (" + budget + ")"
	default:
		budget = "full (" + budget + ")"
	}
	m := map[string]string{"budget": budget, "isolation": string(r.o.Isolation)}
	if r.o.Until > 0 {
		m["until"] = fmt.Sprint(r.o.Until)
	}
	if r.o.Slice > 0 {
		m["slice"] = r.o.Slice.String()
	}
	if r.o.Procs > 0 {
		m["procs"] = fmt.Sprint(r.o.Procs)
	}
	if env := r.o.recordedEnv(); len(env) > 0 {
		m["env"] = strings.Join(env, " ")
	}
	return m
}
