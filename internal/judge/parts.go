package judge

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// This file merges the results of machines that each measured a part of the workloads.

// Parts merges the results of a study whose workloads were divided among machines. Each machine
// measured all rounds of its workloads. Parts computes intervals and verdicts again, so that the error
// level holds for the entire study.
//
// Parts returns an error if the parts answer different questions, as in [OverMachines], or if two
// parts measured the same workload.
func Parts(parts []Measured, criteria []tare.Criterion, mixedGo bool) (*tare.Result, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("there is no part")
	}
	out := *parts[0].Result // the facts about the study; the loop adds the measurements
	clearMeasurements(&out)
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
		addPart(&out, m)
	}
	d := evidence.FromResult(&out)
	d.Study.Criteria = criteria
	setIntervals(d, out.Rounds, out.Comparisons)
	out.Verdicts = Verdicts(d, out.Comparisons, out.Findings)
	return &out, nil
}

// clearMeasurements removes all lists from r that addPart adds to.
func clearMeasurements(r *tare.Result) {
	r.Workloads, r.Comparisons, r.Rounds, r.Values = nil, nil, nil, nil
	r.Conformance, r.Semantics, r.Trials, r.Plan.Slices = nil, nil, nil, nil
	r.Explanations, r.Findings, r.NotWeighed = nil, nil, nil
}

func addPart(r *tare.Result, m Measured) {
	part := m.Result
	machine := tare.OnMachine{Name: m.Name, Machine: part.Machine, Rounds: part.RoundsDone, Seed: part.Seed, Comparisons: part.Comparisons, Effects: part.Rounds}
	for _, w := range part.Workloads {
		machine.Part = append(machine.Part, w.ID)
	}
	r.Machines = append(r.Machines, machine)
	r.Workloads, r.Rounds = append(r.Workloads, part.Workloads...), append(r.Rounds, part.Rounds...)
	r.Comparisons, r.Values = append(r.Comparisons, part.Comparisons...), append(r.Values, part.Values...)
	r.Conformance, r.Semantics = append(r.Conformance, part.Conformance...), append(r.Semantics, part.Semantics...)
	r.Trials, r.Plan.Slices = append(r.Trials, part.Trials...), append(r.Plan.Slices, part.Plan.Slices...)
	r.Explanations = append(r.Explanations, part.Explanations...)
	r.Findings = appendNew(r.Findings, part.Findings)
	r.NotWeighed = appendNew(r.NotWeighed, part.NotWeighed)
	r.Seconds, r.RoundsDone = max(r.Seconds, part.Seconds), min(r.RoundsDone, part.RoundsDone)
}

func appendNew[T comparable](list, more []T) []T {
	for _, x := range more {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}
