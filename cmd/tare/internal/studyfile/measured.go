package studyfile

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
)

// checkMeasurable returns an error for the first part of a study that no run can measure.
func checkMeasurable(s tare.Study) error {
	for i, name := range s.Metrics {
		m, isMetric := tare.MetricNamed(name)
		if isMetric && !slices.ContainsFunc(s.Workloads, func(w tare.Workload) bool { return w.Measures(m) }) {
			return notMeasuredError(fmt.Sprintf("metrics[%d]", i), m, "on any workload")
		}
	}
	c := newMeasurable(s)
	if err := c.checkQuestions(); err != nil {
		return err
	}
	return c.checkDecompositions()
}

// measurable knows what the workloads of a study measure.
type measurable struct {
	study     tare.Study
	workloads map[string]tare.Workload
}

func newMeasurable(s tare.Study) measurable {
	m := measurable{s, map[string]tare.Workload{}}
	for _, w := range s.Workloads {
		m.workloads[w.ID] = w
	}
	return m
}

const anyContender = ""

// checkWorkloads returns an error, at path, if a workload does not measure the metric or does not
// select the contender. Other checks report unknown names.
func (c measurable) checkWorkloads(path, contender, metric string, ids ...string) error {
	m, isMetric := tare.MetricNamed(metric)
	for _, id := range ids {
		w, isWorkload := c.workloads[id]
		if isMetric && isWorkload && !w.Measures(m) {
			return notMeasuredError(path+".metric", m, "on "+id)
		}
		if contender != anyContender && contender != c.study.Baseline && !w.Asks(contender) {
			return notSelectedError(path, contender, id)
		}
	}
	return nil
}

func (c measurable) checkQuestions() error {
	for i, q := range c.study.Criteria {
		path := fmt.Sprintf("criteria[%d]", i)
		if err := c.checkWorkloads(path, q.Contender, q.Metric, q.Workload); err != nil {
			return err
		}
		if err := c.checkWorkloads(path, anyContender, q.Metric, q.Of); err != nil {
			return err
		}
	}
	for i, q := range c.study.Claims {
		path := fmt.Sprintf("claims[%d]", i)
		if err := c.checkWorkloads(path, q.Contender, q.Metric, append([]string{q.Workload}, q.Workloads...)...); err != nil {
			return err
		}
	}
	for i, b := range c.study.BreakEven {
		if err := c.checkWorkloads(fmt.Sprintf("break_even[%d]", i), b.Contender, "cpu", b.Workloads...); err != nil {
			return err
		}
	}
	return nil
}

func (c measurable) checkDecompositions() error {
	ids := map[string]bool{}
	for i, d := range c.study.Decompose {
		path := fmt.Sprintf("decompose[%d]", i)
		if ids[d.ID] {
			return &tare.FieldError{
				Path: path + ".id",
				What: fmt.Sprintf("decomposition %q is listed twice", d.ID),
				Hint: "give each its own id",
			}
		}
		ids[d.ID] = true
		metric := d.Metric
		if metric == "" {
			metric = c.study.Metrics[0]
		}
		if err := c.checkWorkloads(path, d.From, metric, d.Workload); err != nil {
			return err
		}
		for k, step := range d.Steps {
			if step.To != c.study.Baseline && !c.workloads[d.Workload].Asks(step.To) {
				return notSelectedError(fmt.Sprintf("%s.steps[%d].to", path, k), step.To, d.Workload)
			}
		}
	}
	return nil
}

func notSelectedError(path, contender, workload string) error {
	return &tare.FieldError{
		Path: path,
		What: fmt.Sprintf("%s is not asked %s", contender, workload),
		Hint: "add it to the contenders of that workload",
	}
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
