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

// This file judges the rounds of a study and makes the result document.

func (r *run) makeResult(facts tare.Machine) *tare.Result {
	judged := r.judgeEvidence(facts, true)
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
			Env:     r.opts.recordedEnv(),
			Procs:   r.opts.Procs,
			Machine: facts,
		},
		Design: tare.Design{
			Metrics:    r.study.Metrics,
			Contenders: r.contenders,
			Workloads:  r.study.Workloads,
			Plan:       r.plan,
		},
		Measured: tare.Measured{
			RoundsDone:  judged.data.Rounds,
			Rounds:      judged.effects,
			Values:      judged.values,
			Comparisons: judged.comparisons,
			Scaling:     judged.scaling,
		},
		Judged: tare.Judged{
			Verdicts:    judged.verdicts,
			Claims:      judged.claims,
			Findings:    judged.findings,
			Conformance: r.allConformance(judged.data.Trials),
			Semantics:   r.exams.Semantics,
		},
		Analysis: tare.Analysis{
			Cost:     judge.Costs(r.study.Metrics, r.contenders, judged.comparisons, judged.findings, r.opts.At),
			Profiles: r.profiles,

			BreakEven:     judge.BreakEven(judged.data, judged.findings),
			Decomposition: judged.decomposition,
		},

		Expectations: judged.expectations,

		Record: tare.Record{
			NotWeighed: r.omitted,
			Trials:     judged.data.Trials,
			Journal:    journal.FileName,
		},
	}
	correctSamples(judged.data)
	res.Answer, res.Figures, res.Quotes = judge.Answer(r.study, res)
	res.Recommended = judge.Recommended(r.study, res)
	res.Machine.Resolution = judge.Resolution(judged.data, judged.comparisons)
	for i := range res.Machine.Resolution {
		res.Machine.Resolution[i].Seconds = res.Seconds
	}
	return res
}

// correctSamples replaces values in the samples of d with those that comparisons use. They exclude
// the CPU time of an idle process.
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

// collectEvidence returns the evidence of the rounds so far, in which measurements that do not count
// are marked. final is true after the last round.
func (r *run) collectEvidence(final bool) evidence.Evidence {
	d := evidence.Evidence{Study: r.study, Plan: r.plan, Contenders: r.contenders, Slices: r.slices, Semantics: r.exams.Semantics, Conformance: r.conformance, Final: final}
	d.Trials = check.Mark(r.trials, r.slices, r.study.Baseline, r.plan.RoundsPlanned)
	for _, rd := range r.rounds {
		if hasPlannedSlices(rd) {
			d.Rounds++
		}
	}
	return d.Indexed()
}

// judgedRounds contains everything that is computed from the rounds so far. decomposition and
// expectations are computed after the last round only.
type judgedRounds struct {
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

// judgeEvidence judges the rounds so far: comparisons first, then the checks, whose findings may
// void verdicts, then the verdicts.
func (r *run) judgeEvidence(facts tare.Machine, final bool) judgedRounds {
	judged := judgedRounds{data: r.collectEvidence(final)}
	judged.effects = judge.Effects(judged.data)
	judged.comparisons = judge.Compare(judged.data, judged.effects)
	judged.values = judge.Values(judged.data)
	judged.scaling = judge.Scaling(judged.data)
	input := check.Input{
		Evidence: judged.data, Effects: judged.effects, Comparisons: judged.comparisons,
		Scaling: judged.scaling, Values: judged.values, Machine: facts, Stored: r.opts.Stored,
	}
	input.Conformance = r.allConformance(judged.data.Trials)
	judged.findings = check.Run(input)
	if final {
		judged.expectations = check.Expectations(input, judged.findings, r.omitted)
	}
	judged.comparisons, judged.values = judge.Strike(judged.data, judged.effects, judged.comparisons, judged.values, judged.findings)
	judged.verdicts = judge.Verdicts(judged.data, judged.comparisons, judged.findings)
	if final {
		judged.decomposition = judge.Decompose(judged.data, judged.effects, judged.comparisons, judged.findings)
	}
	judged.claims = judge.Claims(judged.data, judged.comparisons, judged.values, judged.findings, r.omitted)
	return judged
}

// allConformance returns the conformance results of the pilots, and then those of the samples in
// rounds, summed up for each contender and workload.
func (r *run) allConformance(trials []tare.Trial) []tare.Conformance {
	all := slices.Clone(r.conformance)
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
// same ones can resume a journal.
func (r *run) statedOptions() map[string]string {
	budget := r.opts.Budget.String()
	switch {
	case r.opts.Rounds > 0:
		budget = fmt.Sprintf("%d rounds", r.opts.Rounds)
	case r.opts.User: // neither the quick nor the full budget
	case r.opts.Quick:
		budget = "quick (" + budget + ")"
	default:
		budget = "full (" + budget + ")"
	}
	m := map[string]string{"budget": budget, "isolation": string(r.opts.Isolation)}
	if r.opts.Until > 0 {
		m["until"] = fmt.Sprint(r.opts.Until)
	}
	if r.opts.Slice > 0 {
		m["slice"] = r.opts.Slice.String()
	}
	if r.opts.Procs > 0 {
		m["procs"] = fmt.Sprint(r.opts.Procs)
	}
	if env := r.opts.recordedEnv(); len(env) > 0 {
		m["env"] = strings.Join(env, " ")
	}
	return m
}
