// Package contender is what a contender written in Go is made with: the
// program half of the protocol in docs/contender-protocol.md. It reads the
// lab's requests, loads inputs, runs the timed loop and reports what that
// cost. A kind of contender, such as contender/codec, says what one operation
// is; an author only says how their library does it.
//
// The timed loop does nothing but the operation and two additions: it
// allocates nothing, goes round a pool of inputs, and looks at the clock and
// at the number of collection cycles only every so many operations.
package contender

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// ErrUnsupported is what Prepare returns, wrapped or not, for an operation
// that the contender cannot do. The lab then leaves it out of that workload.
var ErrUnsupported = errors.New("operation not supported")

// Program is a contender.
type Program struct {
	Kind     string   // the lab's word for what it does, e.g. codec
	Variants []string // ways to run it; none: one way. An empty variant in hello means the first

	// Prepare loads bodies, off the clock, and returns how one operation of
	// workload w is done. It may keep bodies. The error ends the contender's
	// part in this workload.
	Prepare func(variant string, w wire.Workload, bodies [][]byte) (Work, error)

	// Serve is in place of Prepare for kinds whose operations the lab does, over
	// the network: it starts a server for workload w and returns when that
	// answers. The former one has ended by then. The error as in Prepare.
	Serve func(variant string, w wire.Workload) (Served, error)

	// Prepares reports whether w is for Prepare, in programs that Serve too. Nil:
	// Serve is for all.
	Prepares func(w wire.Workload) bool

	// Alone is what the program does where no lab has started it, and returns
	// the exit code. Nil: it says what it is, and fails.
	Alone func(args []string, stdout, stderr io.Writer) int
}

// Work is one prepared workload.
type Work struct {
	// Fresh declares that every operation hands out newly allocated output,
	// so that it must allocate at least as many bytes as it puts out.
	Fresh bool

	// Do does one operation on body i and returns the size of its output in
	// bytes. It is what is timed. It must keep the output where the compiler
	// cannot see that nobody reads it.
	Do func(i int) (outBytes int, err error)

	// Answer does the same operation through the same code and shows what came
	// of it.
	Answer func(i int) (Answered, error)

	// Callers is how many goroutines call Do at once, which then has to stand
	// that. Zero: one operation after another in a goroutine that does nothing
	// else. One caller is not the same: with callers a slice has a number of
	// operations, each is timed by itself, and latencies are in the reply.
	Callers int

	// Times makes an open loop of the callers, as a profile of package load/pace
	// does: it returns the intended times of one operation after another, from
	// when work begins, and latencies count from those. It is called with another
	// seed each time. Nil: each caller begins its next operation when one has ended.
	Times func(seed uint64) func() time.Duration

	// Network says what the operations have moved over connections since the
	// workload was prepared. It may be called at any time. Nil: there are none, or
	// nobody counts.
	Network func() Network

	// Reset goes back to how things were when the workload was prepared. Nil:
	// there is nothing to go back to, and the lab is told so.
	Reset func() error

	// Close ends what the workload has kept open. Nil: nothing.
	Close func()
}

// Network is what went over connections.
type Network struct {
	Opened  int64 // connections
	In, Out int64 // bytes received and sent
}

// Answered is what one operation came to.
type Answered struct {
	// Output is what the operation put out, or says in other words what that
	// means. The next call may overwrite it.
	Output []byte

	// Size is how many bytes the operation put out, where Output is in other
	// words: a binary encoding shown as JSON. Zero: Output is all it put out.
	Size int64
}

// Main serves the lab that started this process and exits: 0 when the lab is
// done, 1 when the connection broke, 2 when there is no lab and nothing to do
// alone.
func Main(p Program) {
	runtime.MemProfileRate = 0 // nothing is sampled but for a profile
	os.Exit(start(p, os.Stderr))
}

func start(p Program, stderr io.Writer) int {
	in, out, ok, err := wire.Pipes()
	switch {
	case !ok && p.Alone != nil:
		return p.Alone(os.Args[1:], os.Stdout, stderr)
	case !ok:
		fmt.Fprintf(stderr, "this is a tare contender (%s): a lab starts it and talks to it over %s; measure it with `tare run`\n", p.Kind, wire.EnvWire)
		return 2
	case err != nil:
		fmt.Fprintln(stderr, err)
		return 1
	}
	_ = os.Unsetenv(wire.EnvWire) // the contender's own children have no part in it
	if err := Serve(p, in, out); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
