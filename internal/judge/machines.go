package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file combines the results of one study on several machines. For example: a takes less time
// than b on three of four machines.

// Measured is the result of a study on one machine.
type Measured struct {
	Name   string
	Result *tare.Result
}

// OverMachines combines the results of one study on several machines. It returns a copy of the
// first result, with comparisons over all machines. It returns an error if the results answer
// different questions: if the study, its inputs or the versions of contenders differ. Versions of Go
// may differ only if mixedGo is set.
func OverMachines(machines []Measured, mixedGo bool) (*tare.Result, error) {
	if len(machines) < 2 {
		return nil, fmt.Errorf("%s: verdicts over machines need two at least", format.Count(len(machines), "machine"))
	}
	var names []string
	for _, m := range machines {
		if slices.Contains(names, m.Name) {
			return nil, fmt.Errorf("two machines are named %s", printName(m.Name))
		}
		names = append(names, m.Name)
		if why := whyDifferentQuestion(machines[0].Result, m.Result, mixedGo); why != "" {
			return nil, fmt.Errorf("%s and %s cannot be compared: %s", printName(machines[0].Name), printName(m.Name), why)
		}
	}
	out := *machines[0].Result
	for _, m := range machines {
		r := m.Result
		out.Machines = append(out.Machines, tare.OnMachine{
			Name: m.Name, Machine: r.Machine, Rounds: r.RoundsDone, Seed: r.Seed, Comparisons: r.Comparisons, Effects: r.Rounds,
		})
	}
	for _, kind := range listKinds(machines) {
		sameKind := slices.DeleteFunc(slices.Clone(machines), func(m Measured) bool { return machineKind(m.Result) != kind })
		out.OverMachines = append(out.OverMachines, combineKind(kind, sameKind)...)
	}
	return &out, nil
}

// whyDifferentQuestion returns why two results answer different questions, or "".
func whyDifferentQuestion(a, b *tare.Result, mixedGo bool) string {
	switch {
	case len(b.Machines) > 0 || len(a.Machines) > 0:
		return "one of them is of several machines already"
	case a.Study != b.Study || a.Question != b.Question:
		return fmt.Sprintf("study %s is not %s", printName(b.Study), printName(a.Study))
	case !slices.Equal(a.Metrics, b.Metrics):
		return "they have other metrics"
	}
	for _, w := range a.Workloads {
		i := slices.IndexFunc(b.Workloads, func(x tare.Workload) bool { return x.ID == w.ID })
		if i >= 0 && b.Workloads[i].SHA256 != w.SHA256 {
			return fmt.Sprintf("the input of workload %s is another", printName(w.ID))
		}
	}
	for _, c := range a.Contenders {
		d, ok := b.Contender(c.ID)
		switch {
		case !ok || c.Error != "" || d.Error != "": // not measured on one of them
		case c.Role != d.Role:
			return fmt.Sprintf("%s has another role", printName(c.ID))
		case c.Version != d.Version || !slices.Equal(c.Modules, d.Modules):
			return fmt.Sprintf("%s was built from other versions", printName(c.ID))
		case c.Go != d.Go && !mixedGo:
			return fmt.Sprintf("%s was built by %s and by %s (--mixed-go compares them all the same)", printName(c.ID), printName(c.Go), printName(d.Go))
		}
	}
	return ""
}

// machineKind returns the kind of a result's machine, e.g. linux/amd64.
func machineKind(r *tare.Result) string { return r.Machine.OS + "/" + r.Machine.Arch }

func listKinds(machines []Measured) []string {
	var out []string
	for _, m := range machines {
		if kind := machineKind(m.Result); !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return out
}

// combineKind returns the comparisons over machines of one kind. Holm's procedure adjusts the p-values
// of all comparisons of a metric together.
func combineKind(kind string, machines []Measured) []tare.OverMachines {
	type test struct {
		index int // index in out
		p     float64
	}
	var out []tare.OverMachines
	families := map[string][]test{} // by metric
	for _, m := range machines {
		for _, c := range m.Result.Comparisons {
			known := slices.ContainsFunc(out, func(o tare.OverMachines) bool { return isComparison(o, c) })
			if known || c.Contender == c.Against || c.Contender == tare.ControlID {
				continue
			}
			o, pSame, isTested := combineMachines(kind, machines, c)
			if isTested {
				families[c.Metric] = append(families[c.Metric], test{index: len(out), p: pSame})
			}
			out = append(out, o)
		}
	}
	for _, family := range families {
		var raw []float64
		for _, t := range family {
			raw = append(raw, t.p)
		}
		for k, adjusted := range stats.Holm(raw) {
			o := &out[family[k].index]
			o.P, o.Differ = adjusted, adjusted <= stats.MachinesDiffer
		}
	}
	for i := range out {
		out[i].Sentence = machinesSentence(out[i])
	}
	return out
}

func isComparison(o tare.OverMachines, c tare.Comparison) bool {
	return o.Workload == c.Workload && o.Contender == c.Contender && o.Metric == c.Metric && o.Against == c.Against
}

// combineMachines combines comparison c over machines. pSame is the p-value of the hypothesis that
// all have the same ratio. ok is false if it cannot be tested.
func combineMachines(kind string, machines []Measured, c tare.Comparison) (o tare.OverMachines, pSame float64, ok bool) {
	o = tare.OverMachines{Workload: c.Workload, Contender: c.Contender, Metric: c.Metric, Against: c.Against, Kind: kind, P: 1}
	var estimates []stats.Estimate
	for _, m := range machines {
		r := m.Result
		i := slices.IndexFunc(r.Comparisons, func(x tare.Comparison) bool { return isComparison(o, x) })
		if i < 0 {
			continue
		}
		if len(r.VoidsMetric(c.Contender, c.Workload, c.Metric))+len(r.VoidsMetric(c.Against, c.Workload, c.Metric)) > 0 {
			o.Void = append(o.Void, m.Name)
			continue
		}
		comparison := r.Comparisons[i]
		switch comparison.Differs(tare.NoiseFloor(r.Comparisons, comparison.Workload, comparison.Metric)) {
		case tare.Significant:
			if comparison.Ratio < 1 {
				o.Less = append(o.Less, m.Name)
			} else {
				o.More = append(o.More, m.Name)
			}
		default:
			o.Open = append(o.Open, m.Name)
		}
		if e, found := tare.EffectsOf(r.Rounds, c.Workload, c.Metric, c.Contender, c.Against); found {
			if estimate, enough := stats.Trimmed(e.Effects); enough {
				estimates = append(estimates, estimate)
			}
		}
	}
	if pooled, enough := stats.Pool(estimates, alpha); enough {
		o.Ratio, o.Low, o.High, o.Level = math.Exp(pooled.Value), math.Exp(pooled.Low), math.Exp(pooled.High), 1-alpha
		o.Between, o.I2 = math.Sqrt(pooled.Between), pooled.I2
	}
	pSame, ok = stats.SameEverywhere(estimates)
	return o, pSame, ok
}

// machinesSentence returns a sentence about the machines on which a difference was shown, e.g. "Less
// on a, b but not on c; the machines differ in how much."
func machinesSentence(o tare.OverMachines) string {
	machines := len(o.Less) + len(o.More) + len(o.Open)
	holdsOn := func(names []string) string {
		return fmt.Sprintf("holds on %d of %s", len(names), format.Count(machines, "machine"))
	}
	var text string
	switch {
	case machines == 0:
		return "Void on every machine."
	case len(o.Less) > 0 && len(o.More) > 0:
		text = fmt.Sprintf("Less on %s, more on %s", joinNames(o.Less), joinNames(o.More))
		if len(o.Open) > 0 {
			text += ", no difference shown on " + joinNames(o.Open)
		}
	case len(o.Less) == machines:
		text = "Less: " + holdsOn(o.Less)
	case len(o.More) == machines:
		text = "More: " + holdsOn(o.More)
	case len(o.Less) > 0:
		text = "Less on " + joinNames(o.Less) + " but not on " + joinNames(o.Open)
	case len(o.More) > 0:
		text = "More on " + joinNames(o.More) + " but not on " + joinNames(o.Open)
	default:
		text = "No difference shown on any of " + format.Count(machines, "machine")
	}
	switch {
	case o.Differ:
		text += "; the machines differ in how much"
	case o.Ratio > 0 && (o.High < 1 || o.Low > 1):
		text += "; over machines the interval excludes 1"
	case o.Ratio > 0 && len(o.Open) < machines:
		text += "; over machines the interval includes 1"
	}
	if len(o.Void) > 0 {
		text += "; void on " + joinNames(o.Void)
	}
	return text + "."
}

func joinNames(machines []string) string {
	var out []string
	for _, name := range machines {
		out = append(out, printName(name))
	}
	return strings.Join(out, ", ")
}

// printName returns a name from another machine's document as one short line.
func printName(name string) string { return format.Line(name, 80) }
