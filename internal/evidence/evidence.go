// Package evidence stores the measurements of a study, and finds them by round, workload and
// contender. A contender is a measured program. Void measurements ([tare.Trial.Counts]) are
// omitted.
package evidence

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
)

// Evidence is a study with its measurements so far. For example, after 12 rounds it has 12 trials
// of each contender. A trial is the process of a contender in one round. A slice is one of its
// timed runs.
type Evidence struct {
	Study       tare.Study
	Plan        tare.Plan
	Contenders  []tare.Contender
	Rounds      int                // number of complete rounds, without extra rounds
	Slices      []tare.Slice       // of all rounds, including extra rounds with longer slices
	Trials      []tare.Trial       // of all rounds; void parts are marked
	Semantics   []tare.Semantics   // results of semantics tests, outside the rounds
	Conformance []tare.Conformance // comparisons of answers with the reference
	Final       bool               // the study has stopped: there will be no more rounds

	index *Index // nil before Indexed
}

// Indexed returns the evidence with its index, which Index otherwise builds each time.
func (e Evidence) Indexed() Evidence {
	e.index = e.Index()
	return e
}

// Index returns the index of the evidence.
func (e Evidence) Index() *Index {
	if e.index != nil {
		return e.index
	}
	return newIndex(e)
}

// FromResult returns the evidence in a saved result. It has no slices, because a result has only
// their sums, in the samples of its trials. [ForRejudging] is for judging the result again.
func FromResult(r *tare.Result) Evidence {
	study := tare.Study{ID: r.Study, Kind: r.Kind, Baseline: r.Baseline(), Metrics: r.Metrics, Workloads: r.Workloads}
	e := Evidence{Study: study, Plan: r.Plan, Contenders: r.Contenders, Rounds: r.RoundsDone, Trials: r.Trials, Semantics: r.Semantics, Final: true}
	return e.Indexed()
}

// Looks returns the number of times that the evidence is judged in the course of the study.
func (e Evidence) Looks() int { return max(1, len(e.Plan.Looks)) }

// Contender returns the contender with this id.
func (e Evidence) Contender(id string) (c tare.Contender, ok bool) {
	i := slices.IndexFunc(e.Contenders, func(c tare.Contender) bool { return c.ID == id })
	if i < 0 {
		return tare.Contender{}, false
	}
	return e.Contenders[i], true
}

// Compared returns the ids of the baseline and the contenders that are compared with it. It omits
// traps, which repeat a published mistake, and the null contender, which does nothing.
func (e Evidence) Compared() []string {
	return e.Having(tare.RoleBaseline, tare.RoleContender, tare.RoleControl, tare.RoleApart)
}

// Alike returns the ids of the contenders that are also compared with each other. It omits those of
// [tare.RoleApart], which do another job.
func (e Evidence) Alike() []string {
	return e.Having(tare.RoleBaseline, tare.RoleContender, tare.RoleControl)
}

// Having returns the ids of the contenders with one of roles.
func (e Evidence) Having(roles ...tare.Role) []string {
	var ids []string
	for _, c := range e.Contenders {
		if slices.Contains(roles, c.Role) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Workload returns the workload with this id.
func (e Evidence) Workload(id string) (w tare.Workload, ok bool) {
	i := slices.IndexFunc(e.Study.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i < 0 {
		return tare.Workload{}, false
	}
	return e.Study.Workloads[i], true
}

// MetricsOf returns the elements of metrics that apply to workload w.
func MetricsOf(w tare.Workload, metrics []string) []string {
	var out []string
	for _, name := range metrics {
		if m, ok := tare.MetricNamed(name); ok && w.Measures(m) {
			out = append(out, name)
		}
	}
	return out
}

// Measures reports whether the workload with this id is measured and metric applies to it. If not,
// why is the reason.
func (e Evidence) Measures(workload, metric string) (why string, ok bool) {
	w, ok := e.Workload(workload)
	if !ok {
		return workload + " was not measured", false
	}
	if len(MetricsOf(w, []string{metric})) > 0 {
		return "", true
	}
	switch m, _ := tare.MetricNamed(metric); {
	case m.IsLatency():
		return workload + " has no continuous segment, and latencies take one", false
	case w.Op != tare.OpStop && m.Name == "stop":
		return workload + " ends no server", false
	}
	return fmt.Sprintf("%s runs at a given rate, which sets the time of an operation", workload), false
}

// Primary returns the study's first metric, or "" if it has none.
func (e Evidence) Primary() string {
	if len(e.Study.Metrics) == 0 {
		return ""
	}
	return e.Study.Metrics[0]
}
