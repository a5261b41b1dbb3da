package lab

import (
	"context"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
)

// These are the parameters and results of a [Kind]. With them, a kind can be written outside of this
// repository.
type (
	// Program is a contender as it was built.
	Program = build.Program
	// TrialSpec describes how to start one trial (a process) of a program.
	TrialSpec = trial.Spec
	// Conn is the conversation with a trial.
	Conn = trial.Conn
	// Guardian ends the processes of a run if tare is killed.
	Guardian = trial.Guardian
)

// Kind defines how a study works with its contenders, the programs that it compares. The engine runs
// every kind in the same way.
type Kind interface {
	// Input writes the input of workload w for every contender into dir, and describes it. Paths of
	// files in w are relative to studyDir. The workload is omitted if the error is a
	// *NotInstalledError.
	Input(w tare.Workload, studyDir, dir string) (wire.Workload, error)
	// Open starts one trial, a new process of program p. Different trials are prepared at the same
	// time. One trial gets one request after another.
	Open(ctx context.Context, p Program, spec TrialSpec) (Conn, error)
	// Compare compares answers with the reference for workload w and returns one line per wrong answer.
	Compare(w wire.Workload, answers []wire.Answer) ([]string, error)
}

// Describer is a Kind that can describe the content of an input. Some checks apply only to such kinds.
type Describer interface {
	// Describe returns w with a description of its input added. For example, it adds the size of the
	// bodies and the number of distinct ones.
	Describe(w tare.Workload, input wire.Workload) (tare.Workload, error)
}

// Holder is a Kind whose contenders store data of a workload in memory. A study that needs too much
// memory is rejected before anything is started.
type Holder interface {
	// Holds returns the maximum memory in bytes that contender c takes for the data of w; 0 means too
	// little to count. w.Set includes the configuration of c.
	Holds(c tare.Contender, w wire.Workload) int64
}

// Examiner is a Kind with exams: cases in which implementations are known to differ. Every contender
// takes them once per study, in a separate process. They are never timed.
type Examiner interface {
	// Exams writes the inputs of all exams into dir. It returns nil if the study has none.
	Exams(dir string) ([]wire.Workload, error)
	// Differ compares one answer to one case of a test with the reference. It returns false if they are
	// equal.
	Differ(exam wire.Workload, answer wire.Answer) (tare.Difference, bool)
	// Reference names the reference of the comparison, e.g. encoding/json go1.26.8.
	Reference() string
}

// Grouper is a Kind that needs a separate process for each group of workloads. The workloads of a group
// follow each other in a round, so that each process starts once.
type Grouper interface {
	// Group names the group of w.
	Group(w wire.Workload) string
}

// Launcher is a Kind whose contenders can also be a command of the user, or a URL.
type Launcher interface {
	// Launches returns the ways to launch contenders that Open supports.
	Launches() []tare.Launch
}

// Prober is a Kind with requests that must be rejected. A contender that accepts them is disqualified,
// like one with wrong answers.
type Prober interface {
	// Probes writes the inputs of all probes for works into dir. They are prepared and answered as
	// workloads are, once per study, and compared by Compare.
	Probes(dir string, works []wire.Workload) ([]wire.Workload, error)
}

// Sources turns a study's entry into a program that can be started.
type Sources interface {
	// Program builds (or finds built) the program of entry e. It is not called for a command or a URL.
	// The error is one line: it becomes the contender's void finding. An error that wraps
	// build.ErrNoToolchain or build.ErrCache ends the run.
	Program(ctx context.Context, kind, studyDir string, e tare.Entry) (build.Program, error)
}

// Options define how a study runs. Kinds, Sources and Dir are required; every other zero value works.
type Options struct {
	Kinds   map[string]Kind
	Sources Sources
	Dir     string // journal and inputs of this run only; made if missing

	Measuring
	Host
}

// Measuring selects the part of a study to measure, the measuring time, and the method.
type Measuring struct {
	Only   Only          // the zero value selects by Quick
	Quick  bool          // measure only what a claim, a criterion or an expectation needs
	Budget time.Duration // 0 means the study's quick or full budget
	User   bool          // the user set the budget: omit parts of the study, or fail, rather than exceed it
	Limit  time.Duration // no round ends later; 0 means no limit
	Spent  time.Duration // part of Budget and Limit that was used up before Run
	Rounds int           // number of rounds, with one judgement at the end; 0 means as many as Budget has time for
	Until  float64       // continue until every difference is proven or below this share, at most for Budget; 0 means no such goal
	Permit Permit        // called before each round if several machines share the rounds; nil permits all

	Seed      uint64         // seed of every order; recorded in the result; 0 means from the clock
	Isolation tare.Isolation // "" means lockstep
	Slice     time.Duration  // requested length of a slice, one timed run; 0 means by the rule in docs/METHOD.md
	Most      int            // most slices of a contender in a round, for work that allocates nothing; 0 means by the same rule
	Procs     int            // GOMAXPROCS of contenders; 0 means the default of the kind
	Env       []string       // NAME=value, added to the environment of every contender
	EnvRecord []string       // Env as the result and the journal store it; nil means unchanged
	At        float64        // operations per second for which costs are computed; 0 means no costs
	Profile   []string       // profiles to take of every contender after the rounds: cpu, mem
	Expected  []tare.Pilot   // expected results of the pilots, by which parts are omitted before any pilot; nil if unknown
}

func (m Measuring) recordedEnv() []string {
	if m.EnvRecord != nil {
		return m.EnvRecord
	}
	return m.Env
}

// Host holds the services and callbacks of the program that runs a study.
type Host struct {
	Now      func() time.Time                     // nil means time.Now
	LookPath func(program string) (string, error) // finds a program that a command requires; nil means machine.Tool
	BuildFor BuildFor                             // nil means nothing is built for commands
	Machine  *tare.Machine                        // reported instead of this machine's, for scripted runs
	Unlocked bool                                 // the run has no machine lock; recorded in the result

	Known  Known        // results of earlier runs; nil means every contender is tested again
	Resume bool         // continue the journal in Dir
	Stored *tare.Result // an older result, to report changes since; nil means none

	Run      string          // tag of this run, put into every process it starts
	Guardian *trial.Guardian // notified of started processes, for systems that cannot find them by the tag
	Progress func(Event)     // called for each step as it happens; may be nil
	Stop     <-chan struct{} // when closed, the run finishes the current round and judges the rounds so far
}

// BuildFor builds the files that command would otherwise build while it starts. It returns NAME=value
// entries for the command's environment. The error is one line.
type BuildFor func(ctx context.Context, command []string) (env []string, err error)

// Permit reports whether one more round is wanted after done rounds. It may block. With an error the
// study has no result.
type Permit func(ctx context.Context, done int) (bool, error)

// Only selects a part of a study by name. A selected part is measured at any budget, and the baseline
// always is. The elements are patterns as in [Match]; an empty list selects all.
type Only struct {
	Contenders []string
	Workloads  []string
}

// Event is one step of a study, for a progress line.
type Event struct {
	Phase     string // build, pilot, fit, exam, plan, trial, round, revised, look, race, profile, done
	Contender string // "" if the phase is about none or all
	Cached    bool   // build: the program was built before
	Err       error  // build, pilot, trial, profile: the failure of Contender
	Round     int    // rounds finished so far; trial: the round in which Contender failed
	Rounds    int    // number of planned rounds
	Plan      *tare.Plan
	Elapsed   time.Duration // measuring time so far; revised: the forecast duration of one round
	Left      time.Duration // rest of the budget, at least 0
	Leader    string        // round: the contender with the lowest ratio so far; "" if unknown
	Ratio     float64       // round: approximate ratio of Leader
	Decided   int           // look: number of decided criteria and claims
	Open      int           // look: number of undecided criteria and claims
	Message   string        // one line with more information; may be ""
}
