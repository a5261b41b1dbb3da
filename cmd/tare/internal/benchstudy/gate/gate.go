// Package gate compares the head of a repository with its base and decides whether the change passes. It
// reports which benchmarks are slower by more than the margin, which are not, and for which of them the
// measurement was not precise enough to decide. [Measure] returns the measurements, and [Judge] the report.
// For example, with a margin of 5 %:
//
//	blocked: of 12 benchmarks 1 is slower by more than 5 %
//
// # What the error level covers
//
// All questions are fixed before measuring: each benchmark and metric is one member of one family, the
// questions that share the error level alpha. Each of the m members first gets an interval at level
// alpha/m. A member whose interval is on one side of the margin is decided; the others get an interval at
// alpha divided by their number, and so on (Holm's procedure). The outcome "better" comes from a second
// family of the same members, whose intervals are compared with no difference. A member can be wrong about
// the margin in one direction and about "better" in one, each with half of alpha, so that the chance of any
// wrong outcome in the table is at most alpha. Allocations that are the same in every round are compared
// exactly and cannot be wrong.
//
// A limit on the head's own values is a member of the first family, too. Its interval is that of the median
// over rounds of the head's value, and is computed once, at the end.
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

// Request configures what a gate measures: the benchmarks and studies of a project, on two revisions.
type Request struct {
	Project    project.Project
	Base, Head string        // revisions; a head may be [Worktree]
	Budget     time.Duration // measuring time; 0 means the project's
	Rounds     int           // fixed number of rounds; 0 means as many as the budget has time for
	Seed       uint64        // 0 takes one from the clock
	NoLock     bool          // measure even if another measurement runs
	Profile    bool          // profile rows that differ, after the rounds
	Changed    bool          // measure only benchmarks that the change can reach
	Counts     counts.Choice // how instructions are counted
	Record     bool          // measure a head that is on the branch already, for the history: never block it
	All        bool          // time benchmarks with the same code and count as well
	Shard      suite.Shard   // measure only a part of the benchmarks; the first part has all other comparisons
	Quiet      bool          // print no progress
}

// Criteria returns the limits of the head on the workloads of a study. The study ends once all of them are decided.
func (a Request) Criteria(head string, workloads []tare.Workload) []tare.Criterion {
	var out []tare.Criterion
	g := a.Project.Gate
	for _, m := range a.Metrics() {
		if m == "allocs" && g.Allocs == project.AllocsExact {
			continue // exact counts are decided after a few rounds, whatever the margin
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

// gatedMetrics returns the metrics of a project's gate, with allocations last unless it ignores them.
func gatedMetrics(g project.Gate) []string {
	out := append([]string{}, g.Metrics...)
	if g.Allocs != project.AllocsIgnore {
		out = append(out, "allocs")
	}
	return out
}

// Measured contains the results of both sides, before [Judge] compares them with the rules.
type Measured struct {
	Base, Head   string                  // printed descriptions, e.g. main (1a2b3c4d5)
	Results      []*tare.Result          // one for each study; all have base as the baseline, and head
	Commit       string                  // commit of the base, for commands; may be ""
	Requirements map[string]Requirements // requirements by study; a study that is missing has those of the project
	Skipped      []Skipped               // benchmarks and packages that were not compared
	Nothing      string                  // why there is nothing to compare; "" if there is, or if Skipped has the reasons
	Notes        []string                // one line each
	Policy       Policy                  // how the change alters the rules that judge it
	Record       bool                    // the head was measured for the history: nothing is blocked
	Shard        suite.Shard             // part that was measured, which is judged with the others; the zero value means all

	Commands Commands // commands that the report advises

	MachineNames []string            // machine of each of Results; nil if one machine measured all
	OverMachines []tare.OverMachines // comparisons of benchmarks that several machines measured
}

// Commands makes the commands that a report advises, from the command line of the user. If a function
// is nil the report advises no such command.
type Commands struct {
	Gate   func(flag, value string) string  // returns the gate's command with another value of one flag
	Bench  func(pkg, pattern string) string // returns the command that measures one benchmark on the same sides
	Rounds bool                             // the gate has a fixed number of rounds, and no budget
}

// Requirements contains the requirements of one study.
type Requirements struct {
	Name    string           `json:"name,omitempty"`    // start of its workloads' names in reports; "" means the study's id
	Metrics []string         `json:"metrics,omitempty"` // metrics that are compared with the margin
	Limits  []tare.Criterion `json:"limits,omitempty"`  // limits of the head's own values
	Place                    // line of tare.yaml
}

// Skipped is a benchmark or package that was not compared.
type Skipped struct {
	What   string `json:"what"`
	Why    string `json:"why"`
	Broken bool   `json:"broken,omitempty"` // the head is the reason: it does not build, or panics
	// OneSided is set if only one revision has it, so that there is nothing to compare.
	OneSided bool `json:"one_sided,omitempty"`
}

// Bench measures the benchmarks of two sides of a repository against each other.
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
	Better  Outcome = "better"       // better than the base, and therefore not worse
	Open    Outcome = "inconclusive" // undecided: the measurement was not precise enough
	Void    Outcome = "void"         // a check found that the measurement does not count
	Nothing Outcome = "nothing"      // the gate compared nothing; no row has this outcome
)

// Row is the verdict on one benchmark by one metric, and on one machine if several measured. For
// example: BenchmarkEncode takes 1.23 times as long as before, and the margin is 5 %, so it is Worse.
type Row struct {
	Benchmark    string  `json:"benchmark"` // import/path.BenchmarkName/sub
	Metric       string  `json:"metric"`
	Outcome      Outcome `json:"outcome"`
	Sentence     string  `json:"sentence"`
	Ratio        float64 `json:"ratio,omitempty"` // head / base; absent without both values
	Limit        float64 `json:"limit,omitempty"` // limit of the head's value, in Unit, whatever the base has; absent if the margin applies
	Low          float64 `json:"low,omitempty"`   // interval of the ratio, or of the head's value if Limit is set; absent if none exists
	High         float64 `json:"high,omitempty"`
	Level        float64 `json:"level,omitempty"` // confidence of the interval, simultaneous over looks and the table
	Base         float64 `json:"base"`            // median over rounds, in Unit
	Head         float64 `json:"head"`
	Unit         string  `json:"unit"`
	Rounds       int     `json:"rounds"`
	Margin       float64 `json:"margin,omitempty"`        // margin of this row, as a share; absent if it is the report's
	RoundsNeeded int     `json:"rounds_needed,omitempty"` // forecast, if inconclusive; absent if more than tare runs
	Exact        bool    `json:"exact,omitempty"`         // each side has the same value in every round
	Untimed      bool    `json:"untimed,omitempty"`       // the benchmark was only counted: code and count are the same on both sides
	SameCode     bool    `json:"same_code,omitempty"`     // the benchmark's machine code is the same on both sides
	Advice       string  `json:"advice,omitempty"`
	Waived       *Waived `json:"waived,omitempty"`
	File         string  `json:"file,omitempty"` // file of the benchmark, relative to the top of the repository
	Line         int     `json:"line,omitempty"`
	Machine      string  `json:"machine,omitempty"` // machine that measured the row; absent if one machine measured all

	result       *tare.Result
	secondResult *tare.Result // second measurement of a row that was undecided; nil if none exists
	workload     string       // id in the result
	why          string       // why the row is void or cannot be decided; "" if the interval decides
	isMin        bool         // Limit is a minimum
}

// hasLimit reports whether the head's value is compared with a limit, instead of with the base and the margin.
func (r Row) hasLimit() bool { return r.Limit > 0 }

// hasInterval reports whether the row has an interval. Exact counts are decided without one.
func (r Row) hasInterval() bool { return r.Low > 0 }

// isUnwaived reports whether the row has outcome o and no waiver covers the row.
func (r Row) isUnwaived(o Outcome) bool { return r.Outcome == o && r.Waived == nil }

// Fails reports whether the row keeps the change from passing. on is the project's rule for rows that are open.
func (r Row) Fails(on project.OnInconclusive) bool {
	isFailingOpen := r.Outcome == Open && on == project.FailOpen
	isBad := r.Outcome == Worse || r.Outcome == Void || isFailingOpen
	return isBad && r.Waived == nil
}

// Waived names the waiver by which a row may pass.
type Waived struct {
	Until  string `json:"until,omitempty"` // last day of the waiver; absent if a reviewer accepted the row
	Reason string `json:"reason"`
}

// String returns the text for a table.
func (w Waived) String() string {
	if w.Until == "" {
		return "accepted: " + w.Reason
	}
	return "waived until " + w.Until + ": " + w.Reason
}

// Place is a line of a file of the repository; the path is relative to its top.
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
	Outcome        Outcome                 `json:"outcome"` // outcome of the complete gate, which may be nothing
	Blocked        bool                    `json:"blocked"`
	Sentence       string                  `json:"sentence"`
	Margin         float64                 `json:"margin"` // as a share
	Alpha          float64                 `json:"alpha"`  // as a share
	OnInconclusive project.OnInconclusive  `json:"on_inconclusive"`
	Rounds         int                     `json:"rounds"`
	Seconds        float64                 `json:"seconds"` // measuring time, without builds
	Rows           []Row                   `json:"rows"`    // the worst first
	Remarks        []Remark                `json:"remarks"`
	Skipped        []Skipped               `json:"not_weighed"`
	Results        []*tare.Result          `json:"results"`
	Shard          string                  `json:"shard,omitempty"`       // part of the gate, e.g. 2/4; absent if it is complete
	Commit         string                  `json:"base_commit,omitempty"` // full hash
	Requirements   map[string]Requirements `json:"held,omitempty"`        // requirements by study; a study that is missing has those of the project
	Notes          []string                `json:"notes,omitempty"`       // notes about measuring, which are remarks as well
	Record         bool                    `json:"record,omitempty"`      // the head was measured for the history: nothing is blocked
	OverMachines   []tare.OverMachines     `json:"over_machines,omitempty"`

	unmeasuredMetrics []string // metrics of gate.metrics that nothing measured

	commands Commands // commands that the report advises

	importPrefix  string // common start of all import paths, which is not printed
	configFile    string // printed path of tare.yaml; "" if none exists
	allocs        project.Allocs
	nothingReason string // why there was nothing to compare
	requiredLine  string // line by which a reviewer accepts rows that are worse; "" if no review is required
}
