package judge

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// Parts merges the results of a study whose workloads were divided among machines; each machine
// measured all rounds of its workloads. Parts computes the intervals again, so that the error level
// holds for the entire study, and the verdicts on criteria. It returns an error if the parts answer
// different questions, as [OverMachines] does, or if two parts measured the same workload.
func Parts(parts []Measured, criteria []tare.Criterion, mixedGo bool) (*tare.Result, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("there is no part")
	}
	out := *parts[0].Result // the facts about the study; the loop adds the measurements of all parts
	out.Workloads, out.Comparisons, out.Rounds, out.Values = nil, nil, nil, nil
	out.Findings, out.Conformance, out.Semantics, out.Trials, out.NotWeighed, out.Explanations, out.Plan.Slices = nil, nil, nil, nil, nil, nil, nil
	for _, m := range parts {
		r := m.Result
		if why := whyDifferentQuestion(parts[0].Result, r, mixedGo); why != "" {
			return nil, fmt.Errorf("the parts of %s and %s do not belong together: %s", printName(parts[0].Name), printName(m.Name), why)
		}
		for _, w := range r.Workloads {
			if slices.ContainsFunc(out.Workloads, func(x tare.Workload) bool { return x.ID == w.ID }) {
				return nil, fmt.Errorf("%s is in two parts", printName(w.ID))
			}
		}
		machine := tare.OnMachine{Name: m.Name, Machine: r.Machine, Rounds: r.RoundsDone, Seed: r.Seed, Comparisons: r.Comparisons, Effects: r.Rounds}
		for _, w := range r.Workloads {
			machine.Part = append(machine.Part, w.ID)
		}
		out.Machines = append(out.Machines, machine)
		out.Workloads, out.Rounds = append(out.Workloads, r.Workloads...), append(out.Rounds, r.Rounds...)
		out.Comparisons, out.Values = append(out.Comparisons, r.Comparisons...), append(out.Values, r.Values...)
		out.Conformance, out.Semantics = append(out.Conformance, r.Conformance...), append(out.Semantics, r.Semantics...)
		out.Trials, out.Plan.Slices = append(out.Trials, r.Trials...), append(out.Plan.Slices, r.Plan.Slices...)
		out.Explanations = append(out.Explanations, r.Explanations...)
		for _, f := range r.Findings {
			if !slices.Contains(out.Findings, f) {
				out.Findings = append(out.Findings, f)
			}
		}
		for _, omitted := range r.NotWeighed {
			if !slices.Contains(out.NotWeighed, omitted) {
				out.NotWeighed = append(out.NotWeighed, omitted)
			}
		}
		out.Seconds, out.RoundsDone = max(out.Seconds, r.Seconds), min(out.RoundsDone, r.RoundsDone)
	}
	d := evidence.FromResult(&out)
	d.Study.Criteria = criteria
	setIntervals(d, out.Rounds, out.Comparisons)
	out.Verdicts = Verdicts(d, out.Comparisons, out.Findings)
	return &out, nil
}
