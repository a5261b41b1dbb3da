// Package trial runs one contender in one fresh process: it starts it, talks to it over its own
// pipes, holds it to deadlines and to limits of memory and output, and ends it together with all
// processes it left.
//
// A trial that goes wrong ends in a [tare.TrialError] of one class and one line; whatever a
// contender does, no call in this package outlasts its deadline by more than a moment and no
// process is left.
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

// Conn is the connection to one contender.
//
// Do sends one request and returns its reply. Everything that ends the trial is a
// [*tare.TrialError], and every later call returns the same one. A reply in which the contender
// itself reports an error is returned together with a TrialError of class contender, and the trial
// continues.
//
// Close ends the contender and everything it started and returns what was recorded about it. It
// never fails and takes a bounded time.
type Conn interface {
	Do(ctx context.Context, q wire.Request) (wire.Reply, error)
	Close(ctx context.Context) tare.Evidence
}

// Gauger is a Conn that recorded more about a workload than its replies contain.
type Gauger interface {
	// Gauges returns the records since workload on was last prepared: values by sample key, and the
	// histogram of its latencies as load/hist writes it, empty if there is none.
	Gauges(on string) (sample tare.Sample, histogram string)
}

// Names of the environment variables that tag what a run has started, so
// that all of it can be found and ended.
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
	Path        string    // of the program
	Args        []string  // after the program's name
	Dir         string    // working directory; empty means the caller's
	Env         []string  // KEY=value, added to a minimal environment
	Name        string    // contender's id, for messages; empty means the program's base name
	Run         string    // tag of the run, set in the environment; empty means the trial's id
	MemoryLimit int64     // bytes resident in the process tree; zero means DefaultMemoryLimit
	OutputLimit int64     // bytes on stdout and stderr together; zero means DefaultOutputLimit
	Stdout      int       // bytes of the end of stdout that are saved for Command.Output; 0 means 4 KiB
	CPUs        []int     // processors it may use; nil means any
	Terminal    bool      // stdout is a pseudo-terminal instead of a pipe; Linux only
	Guardian    *Guardian // notified of the process group, on systems where the run's tag cannot be searched for; may be nil

	ungrouped bool // no control group is made, as on systems without them
}

// Deadline returns how long a contender may take to reply to op if the work itself is expected to
// take expected.
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

// LimitError is the cause of a context whose time is up.
type LimitError struct{ Limit time.Duration }

// Error returns one line.
func (e *LimitError) Error() string { return "not within " + format.Seconds(e.Limit) }

// Limited returns ctx with a limit. Its cause is a *LimitError when the time is up.
func Limited(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, &LimitError{limit})
}

// Detached returns a context that ends if ctx is cancelled, but not at ctx's deadline,
// and the time that was left until then: as long as any, if there is no deadline.
func Detached(ctx context.Context) (detached context.Context, left time.Duration, cancel context.CancelFunc) {
	left = math.MaxInt64
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	detached, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			end(context.Cause(ctx))
		}
	})
	return detached, left, func() { stop(); end(nil) }
}

// StartClock returns a function that reports the time since.
func StartClock() (elapsed func() time.Duration) {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}
