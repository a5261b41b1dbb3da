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
		if adoption, ok := r.exams.Adoption[c.ID]; ok {
			c.Adoption.StartSeconds, c.Adoption.IdleRSSBytes = adoption.StartSeconds, adoption.IdleRSSBytes
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
			NotWeighed: r.leftOut,
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

// correctSamples replaces the values of metrics that slices measure by the values that comparisons
// use, in the samples of d: the CPU time excludes the CPU time of an idle process.
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

// collectEvidence returns the evidence of the rounds so far, in which the measurements that do not
// count are marked. final is true after the last round.
func (r *run) collectEvidence(final bool) evidence.Evidence {
	d := evidence.Evidence{Study: r.study, Plan: r.plan, Contenders: r.contenders, Slices: r.slices, Semantics: r.exams.Semantics, Conformance: r.conform, Final: final}
	d.Trials = check.Mark(r.trials, r.slices, r.study.Baseline, r.plan.RoundsPlanned)
	for _, rd := range r.rounds {
		if hasPlannedSlices(rd) {
			d.Rounds++
		}
	}
	return d.Indexed()
}

// measured contains everything that is computed from the rounds so far. decomposition and
// expectations are computed after the last round only.
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

// judgeEvidence judges the rounds so far: first it makes comparisons, then it runs the checks, which
// read the comparisons, and then it decides the verdicts, which findings of the checks may void.
func (r *run) judgeEvidence(facts tare.Machine, final bool) measured {
	o := measured{data: r.collectEvidence(final)}
	o.effects = judge.Effects(o.data)
	o.comparisons = judge.Compare(o.data, o.effects)
	o.values = judge.Values(o.data)
	o.scaling = judge.Scaling(o.data)
	input := check.Input{
		Evidence: o.data, Effects: o.effects, Comparisons: o.comparisons,
		Scaling: o.scaling, Values: o.values, Machine: facts, Stored: r.o.Stored,
	}
	input.Conformance = r.allConformance(o.data.Trials)
	o.findings = check.Run(input)
	if final {
		o.expectations = check.Expectations(input, o.findings, r.leftOut)
	}
	o.comparisons, o.values = judge.Strike(o.data, o.effects, o.comparisons, o.values, o.findings)
	o.verdicts = judge.Verdicts(o.data, o.comparisons, o.findings)
	if final {
		o.decomposition = judge.Decompose(o.data, o.effects, o.comparisons, o.findings)
	}
	o.claims = judge.Claims(o.data, o.comparisons, o.values, o.findings, r.leftOut)
	return o
}

// allConformance returns the conformance results of the pilots, followed by those of the samples in
// the rounds: their sum for each contender and workload. Trials that do not count are omitted.
func (r *run) allConformance(trials []tare.Trial) []tare.Conformance {
	all := slices.Clone(r.conform)
	sums := map[[2]string]int{} // index in all, by contender and workload
	for _, t := range trials {
		for _, c := range t.Answers {
			if !t.Counts(c.Workload) {
				continue
			}
			key := [2]string{c.Contender, c.Workload}
			i, seen := sums[key]
			if !seen {
				sums[key] = len(all)
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

// statedOptions returns the options as the journal and the result show them. Only a run with the
// same stated options can resume a journal.
func (r *run) statedOptions() map[string]string {
	budget := r.o.Budget.String()
	switch {
	case r.o.Rounds > 0:
		budget = fmt.Sprintf("%d rounds", r.o.Rounds)
	case r.o.User: // a duration without a name
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
