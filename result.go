package tare

import (
	"slices"
	"strings"
	"time"
)

// ResultSchema names the document format. Changes are additive.
const ResultSchema = "tare.result/1"

// Result is the document with all results of a study. Its groups are embedded: the document has
// their fields in one object.
type Result struct {
	Schema   string `json:"schema"`
	Study    string `json:"study"` // id
	Question string `json:"question"`
	Answer   string `json:"answer,omitempty"`  // answer to the question, at most 15 words; "" if no answer of the study fits
	Figures  string `json:"figures,omitempty"` // line below Answer

	Quotes []Quote `json:"quotes,omitempty"` // comparisons that Answer quotes, then those that Figures quotes
	Kind   Kind    `json:"kinds"`

	Recommended string `json:"recommended,omitempty"` // a publication's recommendation, and whether it is confirmed; "" if no sentence of the study fits

	Run
	Design
	Measured
	Judged
	Analysis

	Expectations []Expectation `json:"expectations,omitempty"` // whether checks have found the published mistakes that traps reproduce

	Fleet
	Record
}

// Run contains the time, the machine and the settings of a run, one execution of a study.
type Run struct {
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"` // excludes builds
	Seed    string    `json:"seed"`
	Budget  string    `json:"budget"`          // as requested: quick, full, a duration or a number of rounds
	Env     []string  `json:"env,omitempty"`   // NAME=value, set for every contender; NAME=hmac-sha256:DIGITS if the value is not stored
	Procs   int       `json:"procs,omitempty"` // requested GOMAXPROCS; 0 means the default of the kind
	Stopped string    `json:"stopped"`         // why the rounds ended: decided, planned, budget, rounds, unanswerable or interrupted
	Machine Machine   `json:"machine"`
}

// Design contains what was compared, and the plan.
type Design struct {
	Metrics    []string    `json:"metrics"` // the first is primary
	Contenders []Contender `json:"contenders"`
	Workloads  []Workload  `json:"workloads"`
	Plan       Plan        `json:"plan"`
}

// Measured contains the measurements of a run.
type Measured struct {
	RoundsDone  int          `json:"rounds_done"`
	Rounds      []Effects    `json:"rounds"`
	Values      []Value      `json:"values"`
	Comparisons []Comparison `json:"comparisons"`
	Scaling     []Scaling    `json:"scaling,omitempty"` // of workloads with at least three sizes

	Counter *Counter `json:"counter,omitempty"` // nil if nothing was counted
	Work    []Work   `json:"work,omitempty"`    // counted outside the rounds
}

// Judged contains the verdicts, and the checks of whether contenders did the same work.
type Judged struct {
	Verdicts    []Verdict     `json:"verdicts"`
	Claims      []ClaimResult `json:"claims"`
	Findings    []Finding     `json:"findings"`
	Conformance []Conformance `json:"conformance"`
	Semantics   []Semantics   `json:"semantics,omitempty"` // semantic differences from the reference
}

// Analysis contains costs and causes of differences.
type Analysis struct {
	Cost          []Cost            `json:"cost,omitempty"`
	BreakEven     []BreakEvenResult `json:"break_even,omitempty"`
	Decomposition []Decomposition   `json:"decomposition,omitempty"`
	Profiles      []Profile         `json:"profiles,omitempty"` // taken after the rounds
	Explanations  []Explanation     `json:"explanations,omitempty"`
}

// Fleet is the part of a result about several machines. It is empty if only one machine measured.
// Otherwise the other groups contain the results of the first machine.
type Fleet struct {
	Machines     []OnMachine    `json:"machines,omitempty"`
	OverMachines []OverMachines `json:"over_machines,omitempty"`
}

// Record is the information that is needed to check a run and to repeat it.
type Record struct {
	NotWeighed []NotWeighed `json:"not_weighed,omitempty"`
	Trials     []Trial      `json:"trials"`
	Journal    string       `json:"journal,omitempty"` // name of the file with all measured slices, next to the document
	Tare       string       `json:"tare,omitempty"`    // version of tare that measured
	Asked      Asked        `json:"asked,omitzero"`    // options of the run
}

// Asked contains the options of a run that no other part of the document has.
type Asked struct {
	Study      string        `json:"study_source,omitempty"` // text of the study file
	Dir        string        `json:"study_dir,omitempty"`    // directory that paths in Study are relative to; "" if there are none
	Budget     string        `json:"budget,omitempty"`       // quick, full or a duration
	Rounds     int           `json:"rounds,omitempty"`       // 0 means by budget
	Slice      time.Duration `json:"slice_ns,omitempty"`     // requested length; 0 means by the slice rule
	Contenders []string      `json:"contenders,omitempty"`   // patterns that selected contenders; nil means all
	Workloads  []string      `json:"workloads,omitempty"`    // patterns that selected workloads; nil means all
	With       []string      `json:"with,omitempty"`         // modules to build every contender with: path@version or path=directory
	Go         string        `json:"go,omitempty"`           // toolchain to build every contender with; "" means the machine's

	Command []string          `json:"command,omitempty"`      // arguments of tare if a command, not a file, defines the study, e.g. bench --base main
	WorkDir string            `json:"work_dir,omitempty"`     // directory in which Command ran
	Files   map[string]string `json:"files_sha256,omitempty"` // SHA-256 of the files that Command names, by these names

	Seal string `json:"seal,omitempty"` // MAC of the fields that decide what a rerun runs, with a key of the data directory; "" if unknown
}

// NotWeighed is a part of a study that was not measured, and the reason.
type NotWeighed struct {
	What string `json:"what"` // set by LeftContender or LeftWorkload, or a description
	Why  string `json:"why"`
}

const (
	contenderPrefix = "contender "
	workloadPrefix  = "workload "
)

// LeftContender records why a contender was omitted.
func LeftContender(id, why string) NotWeighed { return NotWeighed{contenderPrefix + id, why} }

// LeftWorkload records why a workload was omitted.
func LeftWorkload(id, why string) NotWeighed { return NotWeighed{workloadPrefix + id, why} }

// Contender returns the id of the omitted contender, or "".
func (n NotWeighed) Contender() string { return idAfter(n.What, contenderPrefix) }

// Workload returns the id of the omitted workload, or "".
func (n NotWeighed) Workload() string { return idAfter(n.What, workloadPrefix) }

func idAfter(text, prefix string) string {
	id, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return ""
	}
	return id
}

// Contender returns the contender with this id.
func (r *Result) Contender(id string) (Contender, bool) {
	for _, c := range r.Contenders {
		if c.ID == id {
			return c, true
		}
	}
	return Contender{}, false
}

// Baseline returns the id of the baseline, the denominator of every ratio, or "" without one.
func (d *Design) Baseline() string {
	for _, c := range d.Contenders {
		if c.Role == RoleBaseline {
			return c.ID
		}
	}
	return ""
}

// FindComparison returns the comparison of a contender with the baseline.
func FindComparison(comparisons []Comparison, workload, contender, metric string) (Comparison, bool) {
	i := slices.IndexFunc(comparisons, func(c Comparison) bool {
		return c.Workload == workload && c.Contender == contender && c.Metric == metric
	})
	if i < 0 {
		return Comparison{}, false
	}
	return comparisons[i], true
}

// Value returns the absolute value of a contender, even if it is struck.
func (m *Measured) Value(workload, contender, metric string) (Value, bool) {
	i := slices.IndexFunc(m.Values, func(v Value) bool {
		return v.Workload == workload && v.Contender == contender && v.Metric == metric
	})
	if i < 0 {
		return Value{}, false
	}
	return m.Values[i], true
}

// Voids returns the findings that void all metrics of contender on workload.
func (r *Result) Voids(contender, workload string) []Finding {
	return Voids(r.Findings, contender, workload)
}

// VoidsMetric returns the findings that void metric of contender on workload.
func (r *Result) VoidsMetric(contender, workload, metric string) []Finding {
	return VoidsMetric(r.Findings, contender, workload, metric)
}
