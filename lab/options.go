package lab

import (
	"context"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
)

// The parameters and results of a [Kind], so that one can be written outside this repository.
type (
	// Program is a contender as it was built.
	Program = build.Program
	// TrialSpec describes how to start one trial of a program.
	TrialSpec = trial.Spec
	// Conn is the conversation with a trial.
	Conn = trial.Conn
	// Guardian ends what a run started, should tare be killed.
	Guardian = trial.Guardian
)

// Kind defines how a study works with its contenders. The engine runs every kind in the same way
// and never learns which one it is.
type Kind interface {
	// Input writes the input of workload w for every contender into dir and describes it on the
	// wire. studyDir is where relative files start. A workload is omitted if the error is a
	// *NotInstalledError.
	Input(w tare.Workload, studyDir, dir string) (wire.Workload, error)
	// Open starts one trial of program. Different trials are prepared at the
	// same time; one trial gets one request after another.
	Open(ctx context.Context, p Program, spec TrialSpec) (Conn, error)
	// Compare compares answers with the reference for workload w and returns
	// one line per wrong answer.
	Compare(w wire.Workload, answers []wire.Answer) ([]string, error)
}

// Describer is a Kind that can describe the content of an input. The checks that need the
// description are not applicable to the workloads of other kinds.
type Describer interface {
	// Describe completes w, whose input is in: how many bytes the bodies have, how many keys they
	// should have, and how many differ.
	Describe(w tare.Workload, in wire.Workload) (tare.Workload, error)
}

// Holder is a Kind whose contenders store data of a workload in memory. A study that needs more
// memory than the machine has is rejected before anything is started.
type Holder interface {
	// Holds returns the maximum memory in bytes that contender c takes for w, which is completed by
	// its set; 0 means too little to count.
	Holds(c tare.Contender, w wire.Workload) int64
}

// Examiner is a Kind with more cases for every contender than the study's workloads: those in which
// implementations are known to differ. They run once per study, in a separate process, and are
// never timed.
type Examiner interface {
	// Exams writes the inputs of all exams into dir.
	Exams(dir string) ([]wire.Workload, error)
	// Differ compares one answer to one case of exam with the reference. It returns false if the
	// answer equals the reference's.
	Differ(exam wire.Workload, answer wire.Answer) (tare.Difference, bool)
	// Reference names what answers are compared with, e.g. encoding/json go1.26.8.
	Reference() string
}

// Grouper is a Kind that needs another process for workloads of another group. The
// workloads of a group follow each other in a round, so that each of these processes
// starts once.
type Grouper interface {
	// Group names the group of w.
	Group(w wire.Workload) string
}

// Launcher is a Kind whose contenders need not be programs of ours: Open takes
// those with a command, or with a URL, as well.
type Launcher interface {
	Launches() []tare.Launch
}

// Prober is a Kind with requests that must be rejected. A contender that accepts them is
// disqualified, like one with wrong answers.
type Prober interface {
	// Probes writes the inputs of all probes for works into dir. They are
	// prepared and answered as workloads are, once per study, and compared with
	// the reference by Compare.
	Probes(dir string, works []wire.Workload) ([]wire.Workload, error)
}

// Sources turns a study's entry into a program that can be started.
type Sources interface {
	// Program builds (or finds built) the program of entry e; it is not called for entries with a
	// command or a URL. The error is one line: it becomes the contender's void finding, unless it
	// wraps build.ErrNoToolchain or build.ErrCache, which end the run.
	Program(ctx context.Context, kind, studyDir string, e tare.Entry) (build.Program, error)
}

// Options define how a study runs. Kinds, Sources and Dir are required; every other zero value
// works.
type Options struct {
	Kinds   map[string]Kind
	Sources Sources
	Dir     string // this run's own directory: journal, inputs; made if missing

	Measuring
	Host
}

// Measuring states what of a study is measured, how long, and in which way.
type Measuring struct {
	Only   Only          // a part of the study; zero means by Quick
	Quick  bool          // only what carries a claim or criterion
	Budget time.Duration // measuring time; zero means the study's own for Quick or full
	User   bool          // the budget is set by the user: fail rather than stretch it
	Limit  time.Duration // end by then, whatever the plan says: no round starts that would end later, and one that does is discarded; 0 means no limit
	Spent  time.Duration // of Budget and Limit, before Run
	Rounds int           // fixed number of rounds, one look at the end; zero means by budget
	Until  float64       // continue until every question is answered and every difference is found or smaller than this share, at most for Budget; zero means no
	Permit Permit        // called before each round, if several machines share the rounds; nil permits all of Rounds

	Seed      uint64         // zero means from the clock; recorded
	Isolation tare.Isolation // zero means lockstep
	Slice     time.Duration  // requested slice length; zero means by METHOD's rule
	Most      int            // slices of a contender in a round, of work that allocates nothing; zero means by that rule
	Procs     int            // GOMAXPROCS of contenders; zero means the kind's own
	Env       []string       // NAME=value, for every contender
	EnvRecord []string       // Env as the result and the journal store it; nil means unchanged
	At        float64        // operations per second at which the cost is computed; zero means none
	Profile   []string       // cpu, mem: to be taken of every contender after the rounds
	Expected  []tare.Pilot   // expected results of pilots, for a budget that must not be spent on them; nil if unknown
}

// recordedEnv returns the environment of contenders as documents keep it.
func (m Measuring) recordedEnv() []string {
	if m.EnvRecord != nil {
		return m.EnvRecord
	}
	return m.Env
}

// Host holds the services and callbacks of the program that runs a study.
type Host struct {
	Now      func() time.Time                     // zero means time.Now
	LookPath func(program string) (string, error) // finds a program that a command requires; nil means machine.Tool
	BuildFor BuildFor                             // nil means nothing is built for commands
	Machine  *tare.Machine                        // facts and noise to report instead of this machine's, for scripted runs
	Unlocked bool                                 // recorded: no machine lock was held

	Known  Known        // answers of earlier runs; nil means every contender is tested
	Resume bool         // go on with the journal in Dir
	Stored *tare.Result // an older result of the study, to report changes since; nil means none

	Run      string          // tag of this run, put into every process it starts
	Guardian *trial.Guardian // notified of started processes, on systems where the run's tag cannot be searched for
	Progress func(Event)     // called for each step as it happens; may be nil
	Stop     <-chan struct{} // closed: finish the round, save, judge what there is
}

// BuildFor builds what a command would otherwise build while it starts. It returns the
// NAME=value that the command then needs in its environment. The error is one line.
type BuildFor func(ctx context.Context, command []string) (env []string, err error)

// Permit reports whether one more round is wanted after done rounds. It may block. With an error
// the study has no result.
type Permit func(ctx context.Context, done int) (bool, error)

// Only chooses a part of a study by name. What it names is measured at any
// budget; the baseline always is. Patterns are those of [path.Match]; none
// means all of them.
type Only struct {
	Contenders []string
	Workloads  []string
}

// Event is one step of a study, for a progress line.
type Event struct {
	Phase     string // build, pilot, fit, exam, plan, trial, round, revised, look, race, profile, done
	Contender string // build: which one
	Cached    bool   // build: it was built before
	Err       error  // build, pilot, trial: what went wrong with that contender
	Round     int    // round: just finished; trial: the one in which it failed
	Rounds    int    // planned
	Plan      *tare.Plan
	Elapsed   time.Duration // since measuring began
	Left      time.Duration // of the budget, at least zero
	Leader    string        // round: the contender with the lowest ratio so far; empty means none is known
	Ratio     float64       // round: of Leader, about
	Decided   int           // look: criteria and claims decided
	Open      int           // look: still open
	Message   string        // one line with more information, if there is any
}
