// Package gate compares the head of a repository with its base and decides whether the change
// passes. It reports benchmarks that are slower by more than a margin. It also reports those that
// were measured too imprecisely. For example, with a margin of 5 %:
//
//	blocked: of 12 benchmarks 1 is slower by more than 5 %
//
// # What the error level covers
//
// Each benchmark and metric is one question. All questions are fixed before measuring, and share
// the error level alpha. First, each of the m questions gets an interval at level alpha/m. If the
// interval is on one side of the margin, the question is decided. The others get an interval at
// alpha divided by their number, and so on (Holm's procedure).
//
// The outcome "better" has intervals of its own, which are compared with no difference. The margin
// and "better" can each be wrong in one direction, each with half of alpha. So the chance of any
// wrong outcome is at most alpha. Allocations that are the same in every round cannot be wrong.
//
// A limit on the head's own values is one of the questions, too. Its interval is that of the median
// over rounds, computed once at the end.
package gate

import (
	"context"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// Schema names the document format of a Report. Changes are additive.
const Schema = "tare.gate/1"

// Worktree as a head means the files as they are, committed or not.
const Worktree = "worktree"

// Request configures what a gate measures.
type Request struct {
	Project    project.Project
	Base, Head string        // revisions; a head may be [Worktree]
	Budget     time.Duration // measuring time; 0 means the project's
	Rounds     int           // fixed number of rounds; 0 means until the budget ends
	Seed       uint64        // 0 means a seed from the clock
	NoLock     bool          // measure even if another measurement runs
	Profile    bool          // rows that differ, after the rounds
	Changed    bool          // only benchmarks that the change can reach
	Counts     counts.Choice // how instructions are counted
	Record     bool          // the head is merged already: never block it
	All        bool          // also benchmarks with the same code and count
	Shard      suite.Shard   // the first part has all other comparisons
	Quiet      bool          // print no progress
}

// Criteria returns the limits of the head on the workloads of a study.
func (a Request) Criteria(head string, workloads []tare.Workload) []tare.Criterion {
	var out []tare.Criterion
	g := a.Project.Gate
	for _, m := range a.Metrics() {
		if m == "allocs" && g.Allocs == project.AllocsExact {
			continue // exact counts are decided after a few rounds
		}
		if len(g.Margins) == 0 {
			out = append(out, tare.Criterion{Contender: head, Metric: m, Ratio: "<= " + formatRatio(1+g.Margin)})
			continue
		}
		for _, w := range workloads {
			out = append(out, tare.Criterion{Contender: head, Workload: w.ID, Metric: m, Ratio: "<= " + formatRatio(1+g.MarginOf(w.ID, m))})
		}
	}
	return out
}

// Metrics returns the metrics to measure; the first is primary.
func (a Request) Metrics() []string { return gatedMetrics(a.Project.Gate) }

// gatedMetrics returns the metrics of a project's gate, with allocations last.
func gatedMetrics(g project.Gate) []string {
	out := append([]string{}, g.Metrics...)
	if g.Allocs != project.AllocsIgnore {
		out = append(out, "allocs")
	}
	return out
}

// Measured contains the results of both sides, for [Judge].
type Measured struct {
	Base, Head   string                  // printed names, e.g. main (1a2b3c4d5)
	Results      []*tare.Result          // one for each study
	Commit       string                  // base's commit; may be ""
	Requirements map[string]Requirements // by study; others have those of the project
	Skipped      []Skipped               // benchmarks and packages that were not compared
	Nothing      string                  // why there is nothing to compare, or ""
	Notes        []string                // one line each
	Policy       Policy                  // how the change alters the rules that judge it
	Record       bool                    // the head is only recorded: nothing is blocked
	Shard        suite.Shard             // measured part; the zero value means all

	Commands Commands

	MachineNames []string            // one for each of Results, or nil
	OverMachines []tare.OverMachines // comparisons over all machines
}

// Commands makes the commands that a report advises. A report advises no command whose function is
// nil.
type Commands struct {
	Gate   func(flag, value string) string  // changes one flag of the gate's command
	Bench  func(pkg, pattern string) string // measures one benchmark
	Rounds bool                             // the number of rounds is fixed, without a budget
}

// Requirements contains the requirements of one study.
type Requirements struct {
	Name    string           `json:"name,omitempty"`    // begins the names of workloads; "" means the study's id
	Metrics []string         `json:"metrics,omitempty"` // metrics that are compared with the margin
	Limits  []tare.Criterion `json:"limits,omitempty"`  // limits of the head's own values
	Place                    // line of tare.yaml
}

// Skipped is a benchmark or package that was not compared.
type Skipped struct {
	What   string `json:"what"`
	Why    string `json:"why"`
	Broken bool   `json:"broken,omitempty"` // the head does not build, or panics
	// OneSided is set if only one revision has it.
	OneSided bool `json:"one_sided,omitempty"`
}

// Bench measures the benchmarks of two sides of a repository.
type Bench func(ctx context.Context, request Request) (Measured, error)

type benchKey struct{}

// WithBench returns a context in which [Measure] calls bench, for tests.
func WithBench(ctx context.Context, bench Bench) context.Context {
	return context.WithValue(ctx, benchKey{}, bench)
}

// Measure calls measure, or its replacement by [WithBench].
func Measure(ctx context.Context, request Request, measure Bench) (Measured, error) {
	if b, ok := ctx.Value(benchKey{}).(Bench); ok {
		measure = b
	}
	return measure(ctx, request)
}

// Outcome is the verdict on one row, or on the complete gate.
type Outcome string

// Outcomes.
const (
	Worse   Outcome = "worse"        // worse by more than the margin, or by an allocation
	NoWorse Outcome = "not worse"    // not worse by more than the margin
	Better  Outcome = "better"       // better, and therefore not worse
	Open    Outcome = "inconclusive" // not measured precisely enough
	Void    Outcome = "void"         // the measurement does not count
	Nothing Outcome = "nothing"      // outcome of a gate that compared nothing; no row has it
)

// Row is the verdict on one benchmark by one metric. For example: BenchmarkEncode is Worse, as it
// takes 1.23 times as long and the margin is 5 %.
type Row struct {
	Benchmark    string  `json:"benchmark"` // import/path.BenchmarkName/sub
	Metric       string  `json:"metric"`
	Outcome      Outcome `json:"outcome"`
	Sentence     string  `json:"sentence"`
	Ratio        float64 `json:"ratio,omitempty"` // head / base; absent without both values
	Limit        float64 `json:"limit,omitempty"` // limit of the head's value, in Unit; absent if the margin applies
	Low          float64 `json:"low,omitempty"`   // interval of the ratio, or of the head's value if Limit is set
	High         float64 `json:"high,omitempty"`
	Level        float64 `json:"level,omitempty"` // confidence over all rows and interim analyses
	Base         float64 `json:"base"`            // median over rounds, in Unit
	Head         float64 `json:"head"`
	Unit         string  `json:"unit"`
	Rounds       int     `json:"rounds"`
	Margin       float64 `json:"margin,omitempty"`        // as a share; absent if it is the report's
	RoundsNeeded int     `json:"rounds_needed,omitempty"` // forecast for Open; absent if more than tare runs
	Exact        bool    `json:"exact,omitempty"`         // each side has the same value in every round
	Untimed      bool    `json:"untimed,omitempty"`       // code and count are the same on both sides
	SameCode     bool    `json:"same_code,omitempty"`     // the machine code is the same on both sides
	Advice       string  `json:"advice,omitempty"`
	Waived       *Waived `json:"waived,omitempty"`
	File         string  `json:"file,omitempty"` // relative to the top of the repository
	Line         int     `json:"line,omitempty"`
	Machine      string  `json:"machine,omitempty"` // absent if one machine measured all

	result       *tare.Result
	secondResult *tare.Result // second measurement of an undecided row, or nil
	workload     string       // id in the result
	why          string       // why the row is void or cannot be decided, or ""
	isMin        bool         // Limit is a minimum
}

func (r Row) hasLimit() bool { return r.Limit > 0 }

// hasInterval reports whether the row has an interval. Exact counts are decided without one.
func (r Row) hasInterval() bool { return r.Low > 0 }

func (r Row) isUnwaived(o Outcome) bool { return r.Outcome == o && r.Waived == nil }

// Fails reports whether the row blocks the change. rule is the project's for open rows.
func (r Row) Fails(rule project.OnInconclusive) bool {
	isFailingOpen := r.Outcome == Open && rule == project.FailOpen
	isBad := r.Outcome == Worse || r.Outcome == Void || isFailingOpen
	return isBad && r.Waived == nil
}

// Waived names the waiver by which a row may pass.
type Waived struct {
	Until  string `json:"until,omitempty"` // absent if a reviewer accepted the row
	Reason string `json:"reason"`
}

// String returns the text for a table.
func (w Waived) String() string {
	if w.Until == "" {
		return "accepted: " + w.Reason
	}
	return "waived until " + w.Until + ": " + w.Reason
}

// Place is a line of a file of the repository.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// Remark is a message of the report in addition to the rows.
type Remark struct {
	Severity string `json:"severity"` // error, warning or note
	Text     string `json:"text"`
	Place
}

// Severities of remarks.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
	SeverityNote    = "note"
)

// Report contains the verdicts of a gate and the results that they come from.
type Report struct {
	Schema         string                  `json:"schema"`
	Base           string                  `json:"base"`
	Head           string                  `json:"head"`
	Outcome        Outcome                 `json:"outcome"`
	Blocked        bool                    `json:"blocked"`
	Sentence       string                  `json:"sentence"`
	Margin         float64                 `json:"margin"` // as a share
	Alpha          float64                 `json:"alpha"`  // as a share
	OnInconclusive project.OnInconclusive  `json:"on_inconclusive"`
	Rounds         int                     `json:"rounds"`
	Seconds        float64                 `json:"seconds"` // measuring time without builds
	Rows           []Row                   `json:"rows"`    // the worst first
	Remarks        []Remark                `json:"remarks"`
	Skipped        []Skipped               `json:"not_weighed"`
	Results        []*tare.Result          `json:"results"`
	Shard          string                  `json:"shard,omitempty"`       // e.g. 2/4; absent if complete
	Commit         string                  `json:"base_commit,omitempty"` // full hash
	Requirements   map[string]Requirements `json:"held,omitempty"`        // by study; others have those of the project
	Notes          []string                `json:"notes,omitempty"`       // also among Remarks
	Record         bool                    `json:"record,omitempty"`      // the head is only recorded: nothing is blocked
	OverMachines   []tare.OverMachines     `json:"over_machines,omitempty"`

	unmeasuredMetrics []string // required metrics that nothing measured

	commands Commands

	importPrefix  string // common start of all import paths, not printed
	configFile    string // printed path of tare.yaml, or ""
	allocs        project.Allocs
	nothingReason string // why there was nothing to compare
	requiredLine  string // line by which a reviewer accepts worse rows, or ""
}
