// Package gate holds the head of a repository against its base and says
// whether the change passes: which benchmarks are slower by more than the
// margin, which are not, and which the machine could not tell.
//
// # What the error level covers
//
// Everything that was asked is fixed before measuring: each benchmark and
// metric is one member of one family. An interval is taken for each, first at
// alpha/m of the m members; those that lie on one side of the margin leave with
// their word, and the others are taken again at alpha over those that are left
// (Holm's procedure). "Faster" is read off a second family of the same members
// about no difference. A member can be wrong about the margin in one direction
// and about "faster" in one, each with half of alpha, so that the chance of any
// wrong word in the table is at most alpha. Allocations that are the same in
// every round are compared exactly and cannot be wrong.
//
// A limit that is stated for the head alone is a member of the first family
// like any other: its interval is that of the median over rounds of the head's
// own figure. It is looked at once, at the end.
package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// Schema names the document format of a Report. Changes are additive.
const Schema = "tare.gate/1"

// Worktree as a head means the files as they are, committed or not.
const Worktree = "worktree"

// Bench measures the benchmarks of two sides of a repository against each other.
type Bench func(ctx context.Context, ask Ask) (Measured, error)

type benchKey struct{}

// WithBench returns a context in which b measures instead of measure of [Measure].
func WithBench(ctx context.Context, b Bench) context.Context {
	return context.WithValue(ctx, benchKey{}, b)
}

// Measure calls measure, or what a test has put in its place.
func Measure(ctx context.Context, ask Ask, measure Bench) (Measured, error) {
	if b, ok := ctx.Value(benchKey{}).(Bench); ok {
		measure = b
	}
	return measure(ctx, ask)
}

// Ask is what a gate wants measured.
type Ask struct {
	Project    project.Project
	Base, Head string        // revisions; a head may be [Worktree]
	Budget     time.Duration // measuring time; zero: as the project has it
	Rounds     int           // a fixed number of them; zero: by budget
	Seed       uint64        // zero: from the clock
	NoLock     bool
	Profile    bool // rows that differ, after the rounds
	Changed    bool // only benchmarks that the change can reach
	Counts     counts.Choice
	Record     bool  // for the history
	All        bool  // benchmarks with the same code and count are timed, too
	Shard      Shard // only a part of the benchmarks; what else there is goes with the first
	Quiet      bool
}

// Shard is one of several parts of a gate; the zero value is all of it.
type Shard struct{ Index, Of int } // from 1

// String is i/n; empty for all of it.
func (s Shard) String() string {
	if s.Of <= 1 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Criteria are what the head is held to on the workloads of a study, which is
// over when all of them are decided.
func (a Ask) Criteria(head string, workloads []tare.Workload) []tare.Criterion {
	var out []tare.Criterion
	g := a.Project.Gate
	for _, m := range a.Metrics() {
		if m == "allocs" && g.Allocs == project.AllocsExact {
			continue // known after a few rounds, whatever the margin
		}
		if len(g.Margins) == 0 {
			out = append(out, tare.Criterion{Contender: head, Metric: m, Ratio: "<= " + ratioText(1+g.Margin)})
			continue
		}
		for _, w := range workloads {
			out = append(out, tare.Criterion{Contender: head, Workload: w.ID, Metric: m, Ratio: "<= " + ratioText(1+g.MarginOf(w.ID, m))})
		}
	}
	return out
}

// Metrics are those to measure; the first is primary.
func (a Ask) Metrics() []string { return metrics(a.Project.Gate) }

func metrics(g project.Gate) []string {
	out := append([]string{}, g.Metrics...)
	if g.Allocs != project.AllocsIgnore {
		out = append(out, "allocs")
	}
	return out
}

// Measured is what came of both sides.
type Measured struct {
	Base, Head string          // as they are to be printed, e.g. main (1a2b3c4d5)
	Results    []*tare.Result  // each of base and head, where base is the baseline; several where a study each was needed
	Commit     string          // the base's, for commands; may be empty
	Held       map[string]Held // by study, what a result is held to besides benchmarks; left out: as the project has it
	Left       []Left          // what was not compared, and why
	Nothing    string          // why there is nothing to compare; empty: there is, or Left says why
	Notes      []string        // one line each
	Policy     Policy          // what the change does to its rules
	Record     bool            // of the head against the reference, for the history: nothing is blocked
	Shard      Shard           // of which part it is, which is judged with the others; the zero value is all of it

	Commands Commands // that the report advises

	On   []string            // machine of each of Results; nil: one machine measured
	Over []tare.OverMachines // of benchmarks that several machines measured
}

// Commands makes the commands that a report advises, from the user's own. Without a
// function none is advised.
type Commands struct {
	Gate   func(flag, value string) string  // the gate again, with another value of one flag
	Bench  func(pkg, pattern string) string // one benchmark of a package alone, on the same sides
	Rounds bool                             // the gate has a fixed number of rounds, and no budget
}

// Held is what one study is held to.
type Held struct {
	Name    string           `json:"name,omitempty"`    // what its workloads are called by; empty: by the study
	Metrics []string         `json:"metrics,omitempty"` // to the margin
	Limits  []tare.Criterion `json:"limits,omitempty"`  // of the head, whatever the base takes
	Place                    // in tare.yaml
}

// Left is a benchmark or package that was not compared.
type Left struct {
	What   string `json:"what"`
	Why    string `json:"why"`
	Broken bool   `json:"broken,omitempty"` // the head is the reason: it does not build, or panics
	// OneSided is set if only one revision has it, so that there is nothing to compare.
	OneSided bool `json:"one_sided,omitempty"`
}

// Outcome is what is said of one member of the family.
type Outcome string

// Outcomes.
const (
	Worse   Outcome = "worse"        // by more than the margin, or by an allocation
	NoWorse Outcome = "not worse"    // by more than the margin
	Better  Outcome = "better"       // and therefore not worse
	Open    Outcome = "inconclusive" // it cannot be told
	Void    Outcome = "void"         // what was measured does not count
	Nothing Outcome = "nothing"      // was compared; of a whole gate only
)

// Row is one benchmark on one metric, and on one machine where several measured.
type Row struct {
	Benchmark string  `json:"benchmark"` // import/path.BenchmarkName/sub
	Metric    string  `json:"metric"`
	Outcome   Outcome `json:"outcome"`
	Sentence  string  `json:"sentence"`
	Ratio     float64 `json:"ratio,omitempty"` // head / base; absent: there is none
	Limit     float64 `json:"limit,omitempty"` // what the head is held to, in Unit, whatever the base takes; absent: the margin
	Low       float64 `json:"low,omitempty"`   // of the interval of the ratio, with a limit of the head's figure; absent: there is none
	High      float64 `json:"high,omitempty"`
	Level     float64 `json:"level,omitempty"` // confidence of the interval, simultaneous over looks and the table
	Base      float64 `json:"base"`            // median over rounds, in Unit
	Head      float64 `json:"head"`
	Unit      string  `json:"unit"`
	Rounds    int     `json:"rounds"`
	Margin    float64 `json:"margin,omitempty"`        // of this row, as a share; absent: the report's
	Needed    int     `json:"rounds_needed,omitempty"` // forecast, where inconclusive; absent: more than tare runs
	Exact     bool    `json:"exact,omitempty"`         // the same in every round on both sides
	Untimed   bool    `json:"untimed,omitempty"`       // code and count are the same on both sides: only counted
	SameCode  bool    `json:"same_code,omitempty"`     // the benchmark's machine code is the same on both sides
	Advice    string  `json:"advice,omitempty"`
	Waived    *Waived `json:"waived,omitempty"`
	File      string  `json:"file,omitempty"` // where the benchmark is, from the top of the repository
	Line      int     `json:"line,omitempty"`
	Machine   string  `json:"machine,omitempty"` // that measured it; absent: one machine measured all

	result   *tare.Result
	again    *tare.Result // measured after it, where it was undecided; nil: it was not
	workload string       // what the result calls it
	why      string       // where it is void
	least    bool         // the limit is the least that it may be
}

// Fails reports whether the row keeps the change from passing.
func (r Row) Fails(on project.OnInconclusive) bool {
	if r.Waived != nil {
		return false
	}
	return r.Outcome == Worse || r.Outcome == Void || r.Outcome == Open && on == project.FailOpen
}

// Waived says by which waiver a row may pass.
type Waived struct {
	Until  string `json:"until,omitempty"` // the last day; absent: a reviewer accepts it
	Reason string `json:"reason"`
}

// String is what a table says.
func (w Waived) String() string {
	if w.Until == "" {
		return "accepted: " + w.Reason
	}
	return "waived until " + w.Until + ": " + w.Reason
}

// Place is where something is in the repository, from its top.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// Remark is something to say besides the rows.
type Remark struct {
	Severity string `json:"severity"` // error, warning or note
	Text     string `json:"text"`
	Place
}

// Severities of remarks.
const (
	IsError   = "error"
	IsWarning = "warning"
	IsNote    = "note"
)

// Report is what a gate found, in one document.
type Report struct {
	Schema   string                 `json:"schema"`
	Base     string                 `json:"base"`
	Head     string                 `json:"head"`
	Outcome  Outcome                `json:"outcome"` // of the whole; also nothing
	Blocked  bool                   `json:"blocked"`
	Sentence string                 `json:"sentence"`
	Margin   float64                `json:"margin"` // as a share
	Alpha    float64                `json:"alpha"`  // as a share
	On       project.OnInconclusive `json:"on_inconclusive"`
	Rounds   int                    `json:"rounds"`
	Seconds  float64                `json:"seconds"` // measuring, builds not included
	Rows     []Row                  `json:"rows"`    // the worst first
	Remarks  []Remark               `json:"remarks"`
	Left     []Left                 `json:"not_weighed"`
	Results  []*tare.Result         `json:"results"`
	Shard    string                 `json:"shard,omitempty"`       // which part this is, e.g. 2/4; absent: all
	Commit   string                 `json:"base_commit,omitempty"` // in full
	Held     map[string]Held        `json:"held,omitempty"`        // by study, what results are held to besides benchmarks
	Notes    []string               `json:"notes,omitempty"`       // of measuring; among the remarks as well
	Record   bool                   `json:"record,omitempty"`      // of the head against the reference: nothing is blocked
	Over     []tare.OverMachines    `json:"over_machines,omitempty"`

	unasked []string // metrics that gate.metrics asks for and that nothing measured

	commands Commands

	prefix string // of all benchmarks: what is left out where they are printed
	config string // path of tare.yaml as it is printed; empty: there is none
	allocs project.Allocs
	reason string // why there was nothing to compare
	review string // what a reviewer writes to accept what is worse; empty: none is asked for
}
