// Package trial runs one measured program, called contender, in a new process. It exchanges requests
// and replies with it over pipes (see package wire). It enforces deadlines and the limits of memory
// and output. At the end it kills all processes of the contender.
//
// A failure is a [tare.TrialError] with a class and one line of text. Whatever a contender does, a
// call ends soon after its deadline, and no process remains. For example, a contender that hangs in
// its first request is killed after 5 s, and the error has the class deadline.
//
// [Start] and [StartCommand] start a process; [Session] has a method for each request.
package trial

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
)

// Conn is the connection to one measured program, called contender.
//
// Do sends one request and returns its reply. If a failure ends the trial, it returns a
// [*tare.TrialError], and so does every later call. If the contender replies with an error, Do
// returns the reply and a TrialError of class contender, and the trial continues.
//
// Close ends the contender and everything it started. It returns the evidence: facts about the
// process, such as its CPU time. It never fails and takes a bounded time.
type Conn interface {
	Do(ctx context.Context, request wire.Request) (wire.Reply, error)
	Close(ctx context.Context) tare.Evidence
}

// Gauger is a Conn with measurements that replies do not contain.
type Gauger interface {
	// Gauges returns the measurements since the workload with that id was last prepared. sample has
	// values by key. histogram contains latencies in the encoding of load/hist, or is "" without any.
	Gauges(workload string) (sample tare.Sample, histogram string)
}

// Variables that tag all processes of a run, so that they can be found and killed.
const (
	EnvRun   = "TARE_RUN"   // the run of tare
	EnvTrial = "TARE_TRIAL" // one trial
)

// Default limits of a trial, in bytes.
const (
	DefaultMemoryLimit = 2 << 30
	DefaultOutputLimit = 64 << 20
)

// Spec describes a program to start. Path is required; every other zero value works.
type Spec struct {
	Path        string
	Args        []string  // without the program's name
	Dir         string    // working directory; "" means the caller's
	Env         []string  // KEY=value, added to a minimal environment
	Name        string    // for messages; "" means the base name of the program
	Run         string    // tag of the run; "" means the trial's id
	MemoryLimit int64     // resident bytes of the process tree; 0 means DefaultMemoryLimit
	OutputLimit int64     // bytes on stdout and stderr together; 0 means DefaultOutputLimit
	Stdout      int       // bytes of stdout saved for Command.Output; 0 means 4 KiB
	CPUs        []int     // processors that it may use; nil means any
	Terminal    bool      // stdout is a pseudo-terminal instead of a pipe; Linux only
	Guardian    *Guardian // kills the process group if tare is killed; nil means none

	ungrouped bool // make no control group, for tests
}

// Deadline returns the longest time that a reply to op may take. expected is the expected time of the
// work itself.
func Deadline(op string, expected time.Duration) time.Duration {
	switch op {
	case wire.OpHello, wire.OpBye:
		return 5 * time.Second
	case wire.OpPrepare:
		return 60 * time.Second
	case wire.OpAnswer:
		return 30 * time.Second
	}
	return max(5*time.Second, 20*expected)
}

// LimitError is the cause of a context of Limited that has exceeded its limit.
type LimitError struct{ Limit time.Duration }

// Error returns one line.
func (e *LimitError) Error() string { return "not within " + format.Seconds(e.Limit) }

// Limited returns a context that ends after limit. Its cause is then a *LimitError.
func Limited(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, &LimitError{limit})
}

// Detached returns a context that ends if ctx is cancelled, but not at the deadline of ctx. remaining
// is the time to that deadline, or the longest duration without one.
func Detached(ctx context.Context) (detached context.Context, remaining time.Duration, cancel context.CancelFunc) {
	remaining = math.MaxInt64
	if deadline, ok := ctx.Deadline(); ok {
		remaining = time.Until(deadline)
	}
	detached, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			end(context.Cause(ctx))
		}
	})
	return detached, remaining, func() { stop(); end(nil) }
}

// StartClock returns a function that returns the time since the call of StartClock.
func StartClock() (elapsed func() time.Duration) {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}
