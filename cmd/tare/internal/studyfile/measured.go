package studyfile

import (
	"fmt"

	"github.com/tarebench/tare"
)

// checkMeasurable returns an error for the first question of the study that no run can answer,
// because its workload does not measure the metric or the contender.
func checkMeasurable(s tare.Study) error {
	works := map[string]tare.Workload{}
	for _, w := range s.Workloads {
		works[w.ID] = w
	}
	check := func(path, contender, metric string, ids ...string) error {
		m, ok := tare.MetricNamed(metric)
		for _, id := range ids {
			if w, there := works[id]; ok && there && !w.Measures(m) {
				return notMeasuredError(path+".metric", m, "on "+id)
			}
			if contender != "" && contender != s.Baseline && !works[id].Asks(contender) {
				return &tare.FieldError{Path: path, What: fmt.Sprintf("%s is not asked %s", contender, id), Hint: "add it to the contenders of that workload"}
			}
		}
		return nil
	}
	for i, name := range s.Metrics {
		m, ok := tare.MetricNamed(name)
		for _, w := range s.Workloads {
			ok = ok && !w.Measures(m)
		}
		if ok {
			return notMeasuredError(fmt.Sprintf("metrics[%d]", i), m, "on any workload")
		}
	}
	for i, c := range s.Criteria {
		at := fmt.Sprintf("criteria[%d]", i)
		if err := check(at, c.Contender, c.Metric, c.Workload); err != nil {
			return err
		}
		if err := check(at, "", c.Metric, c.Of); err != nil {
			return err
		}
	}
	for i, c := range s.Claims {
		at := fmt.Sprintf("claims[%d]", i)
		if err := check(at, c.Contender, c.Metric, append([]string{c.Workload}, c.Workloads...)...); err != nil {
			return err
		}
	}
	for i, b := range s.BreakEven {
		if err := check(fmt.Sprintf("break_even[%d]", i), b.Contender, "cpu", b.Workloads...); err != nil {
			return err
		}
	}
	ids := map[string]bool{}
	for i, d := range s.Decompose {
		at := fmt.Sprintf("decompose[%d]", i)
		if ids[d.ID] {
			return &tare.FieldError{Path: at + ".id", What: fmt.Sprintf("decomposition %q is listed twice", d.ID), Hint: "give each its own id"}
		}
		ids[d.ID] = true
		metric := d.Metric
		if metric == "" {
			metric = s.Metrics[0]
		}
		if err := check(at, d.From, metric, d.Workload); err != nil {
			return err
		}
		for k, step := range d.Steps {
			if !works[d.Workload].Asks(step.To) && step.To != s.Baseline {
				return &tare.FieldError{Path: fmt.Sprintf("%s.steps[%d].to", at, k), What: fmt.Sprintf("%s is not asked %s", step.To, d.Workload), Hint: "add it to the contenders of that workload"}
			}
		}
	}
	return nil
}

func notMeasuredError(path string, m tare.Metric, where string) error {
	hint := "at a given rate the time of an operation is that rate's; leave rate out"
	switch {
	case m.Name == "stop":
		hint = "it takes a workload with op: " + tare.OpStop
	case m.IsLatency():
		hint = "latencies take a continuous segment, e.g. segment: 5s"
	}
	return &tare.FieldError{Path: path, What: fmt.Sprintf("%s is not measured %s", m.Name, where), Hint: hint}
}
