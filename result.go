package tare

import (
	"slices"
	"strings"
	"time"
)

// ResultSchema names the document format. Changes are additive.
const ResultSchema = "tare.result/1"

// Result is everything a study found, in one document. Its groups have names in Go only: in the
// document their fields are side by side.
type Result struct {
	Schema   string `json:"schema"`
	Study    string `json:"study"`
	Question string `json:"question"`
	Answer   string `json:"answer,omitempty"`  // to the question, at most 15 words in new results; "" if the study has none for these figures
	Figures  string `json:"figures,omitempty"` // the line of figures that belongs to Answer

	Quotes []Quote `json:"quotes,omitempty"` // the comparisons that Answer and then Figures quote
	Kind   Kind    `json:"kinds"`

	Recommended string `json:"recommended,omitempty"` // recommendation of a publication, and whether it is confirmed; empty if the study names none, or these figures do not decide

	Run
	Design
	Measured
	Judged
	Analysis

	Expectations []Expectation `json:"expectations,omitempty"` // of traps: which checks must void them, and whether they did

	Fleet
	Record
}

// Run is when, where and with which settings a study was run.
type Run struct {
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"` // measuring, builds not included
	Seed    string    `json:"seed"`
	Budget  string    `json:"budget"`          // as requested: quick, full, a duration or a number of rounds
	Env     []string  `json:"env,omitempty"`   // NAME=value, set in every contender's environment; NAME=hmac-sha256:DIGITS if the value is not stored
	Procs   int       `json:"procs,omitempty"` // requested GOMAXPROCS; 0: that of the kind
	Stopped string    `json:"stopped"`         // why it ended: decided, planned, budget, rounds, unanswerable, interrupted
	Machine Machine   `json:"machine"`
}

// Design lists what a run compares, and how its rounds are planned.
type Design struct {
	Metrics    []string    `json:"metrics"` // the first is primary
	Contenders []Contender `json:"contenders"`
	Workloads  []Workload  `json:"workloads"`
	Plan       Plan        `json:"plan"`
}

// Measured are the figures of a run, by round and over all rounds.
type Measured struct {
	RoundsDone  int          `json:"rounds_done"`
	Rounds      []Effects    `json:"rounds"`
	Values      []Value      `json:"values"`
	Comparisons []Comparison `json:"comparisons"`
	Scaling     []Scaling    `json:"scaling,omitempty"` // where workloads come in three sizes or more

	Counter *Counter `json:"counter,omitempty"` // of Work; nil if nothing was counted
	Work    []Work   `json:"work,omitempty"`    // counted outside the rounds, of workloads that were not timed too
}

// Judged is the judgement of the figures by the study's criteria and claims, and whether the
// contenders did the same work.
type Judged struct {
	Verdicts    []Verdict     `json:"verdicts"`
	Claims      []ClaimResult `json:"claims"`
	Findings    []Finding     `json:"findings"`
	Conformance []Conformance `json:"conformance"`
	Semantics   []Semantics   `json:"semantics,omitempty"` // answers with another meaning than the reference's
}

// Analysis is the cost and the causes of differences, as far as the study or its user requested
// them.
type Analysis struct {
	Cost          []Cost            `json:"cost,omitempty"`          // of each contender at a rate, against the baseline
	BreakEven     []BreakEvenResult `json:"break_even,omitempty"`    // from which rate on a difference matters
	Decomposition []Decomposition   `json:"decomposition,omitempty"` // of differences, one cause at a time
	Profiles      []Profile         `json:"profiles,omitempty"`      // taken after the rounds, if requested
	Explanations  []Explanation     `json:"explanations,omitempty"`  // of differences, if requested
}

// Fleet is the part of a result about several machines. It is empty if there was one; if there were
// several, the other groups are of the first.
type Fleet struct {
	Machines     []OnMachine    `json:"machines,omitempty"`
	OverMachines []OverMachines `json:"over_machines,omitempty"` // verdicts over them
}

// Record is the information needed to check a run and to repeat it.
type Record struct {
	NotWeighed []NotWeighed `json:"not_weighed,omitempty"`
	Trials     []Trial      `json:"trials"`
	Journal    string       `json:"journal,omitempty"` // file name of the slices, next to the document
	Tare       string       `json:"tare,omitempty"`    // version of tare that measured
	Asked      Asked        `json:"asked,omitzero"`    // options of the run
}

// Asked holds the options of a run that the rest of the document does not contain, so that it can
// be repeated. The seed, the environment and the isolation are at their usual places.
type Asked struct {
	Study      string        `json:"study_source,omitempty"` // text of the study's file
	Dir        string        `json:"study_dir,omitempty"`    // start of its relative paths; empty if it has none
	Budget     string        `json:"budget,omitempty"`       // quick, full or a duration
	Rounds     int           `json:"rounds,omitempty"`       // zero means by budget
	Slice      time.Duration `json:"slice_ns,omitempty"`     // requested slice length; zero means by the slice rule
	Contenders []string      `json:"contenders,omitempty"`   // patterns that chose them; none: all
	Workloads  []string      `json:"workloads,omitempty"`    // likewise
	With       []string      `json:"with,omitempty"`         // modules to build every contender with: path@version or path=directory
	Go         string        `json:"go,omitempty"`           // toolchain to build every contender with; empty means the machine's

	Command []string          `json:"command,omitempty"`      // of a study that has no file: arguments of the tare that made it, e.g. bench --base main
	WorkDir string            `json:"work_dir,omitempty"`     // directory in which it was given
	Files   map[string]string `json:"files_sha256,omitempty"` // of the files that it names, as it names them

	Seal string `json:"seal,omitempty"` // MAC of the fields that decide what a rerun runs, by the data directory in which the result was made; empty if unknown
}

// NotWeighed is something that was omitted, and why.
type NotWeighed struct {
	What string `json:"what"` // that of LeftContender or LeftWorkload, or words
	Why  string `json:"why"`
}

// Prefixes of the omitted parts of a study, before their ids.
const (
	contenderPrefix = "contender "
	workloadPrefix  = "workload "
)

// LeftContender records why a contender was omitted.
func LeftContender(id, why string) NotWeighed { return NotWeighed{contenderPrefix + id, why} }

// LeftWorkload records why a workload was omitted.
func LeftWorkload(id, why string) NotWeighed { return NotWeighed{workloadPrefix + id, why} }

// Contender returns the id of the omitted contender, or "" if it was something else.
func (n NotWeighed) Contender() string { return idAfter(n.What, contenderPrefix) }

// Workload returns the id of the omitted workload, or "" if it was something else.
func (n NotWeighed) Workload() string { return idAfter(n.What, workloadPrefix) }

func idAfter(what, prefix string) string {
	id, ok := strings.CutPrefix(what, prefix)
	if !ok {
		return ""
	}
	return id
}

// Contender returns the contender with that id.
func (r *Result) Contender(id string) (Contender, bool) {
	for _, c := range r.Contenders {
		if c.ID == id {
			return c, true
		}
	}
	return Contender{}, false
}

// Baseline returns the id of the contender that every ratio is taken to, or "".
func (d *Design) Baseline() string {
	for _, c := range d.Contenders {
		if c.Role == RoleBaseline {
			return c.ID
		}
	}
	return ""
}

// FindComparison returns that of a contender with the baseline.
func FindComparison(comparisons []Comparison, workload, contender, metric string) (Comparison, bool) {
	i := slices.IndexFunc(comparisons, func(c Comparison) bool {
		return c.Workload == workload && c.Contender == contender && c.Metric == metric
	})
	if i < 0 {
		return Comparison{}, false
	}
	return comparisons[i], true
}

// Value returns what a contender took itself, struck or not.
func (m *Measured) Value(workload, contender, metric string) (Value, bool) {
	i := slices.IndexFunc(m.Values, func(v Value) bool {
		return v.Workload == workload && v.Contender == contender && v.Metric == metric
	})
	if i < 0 {
		return Value{}, false
	}
	return m.Values[i], true
}

// Voids returns the findings that void contender on workload altogether.
func (r *Result) Voids(contender, workload string) []Finding {
	return Voids(r.Findings, contender, workload)
}

// VoidsMetric returns the findings that void metric of contender on workload.
func (r *Result) VoidsMetric(contender, workload, metric string) []Finding {
	return VoidsMetric(r.Findings, contender, workload, metric)
}
