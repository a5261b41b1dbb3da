// Package contender is the SDK for contenders written in Go: the
// program half of the protocol in docs/contender-protocol.md. It reads the
// lab's requests, loads inputs, runs the timed loop and reports its
// cost. A kind of contender, such as contender/codec, defines one operation;
// an author only implements it with a library.
//
// The timed loop contains only the operation and two additions: it
// allocates nothing, cycles through a pool of inputs, and reads the clock and
// the number of collection cycles only after many operations.
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

// ErrUnsupported is the error that Prepare returns, wrapped or not, for an operation
// that the contender does not support. The lab then omits it from that workload.
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

	// Alone runs the program without a lab, and returns the exit code. If it is
	// nil the program describes itself and fails.
	Alone func(args []string, stdout, stderr io.Writer) int
}

// Work is one prepared workload.
type Work struct {
	// Fresh declares that every operation hands out newly allocated output,
	// so that it must allocate at least as many bytes as it puts out.
	Fresh bool

	// Do does one operation on body i and returns the size of its output in
	// bytes. It is what is timed. It must keep the output where the compiler
	// cannot see that it is not read.
	Do func(i int) (outBytes int, err error)

	// Answer runs the same operation through the same code and returns its
	// output.
	Answer func(i int) (Answered, error)

	// Callers is the number of goroutines that call Do concurrently, which Do must
	// support. Zero: one operation after another in a goroutine that does nothing
	// else. One caller is not the same: with callers a slice has a number of
	// operations, each is timed by itself, and latencies are in the reply.
	Callers int

	// Times makes an open loop of the callers, as a profile of package load/pace
	// does: it returns the intended times of one operation after another, from
	// when work begins, and latencies count from those. It is called with another
	// seed each time. Nil: each caller begins its next operation when one has ended.
	Times func(seed uint64) func() time.Duration

	// Network returns the traffic of the operations on connections since the
	// workload was prepared. It may be called at any time. It is nil without
	// connections, or if they are not counted.
	Network func() Network

	// Reset goes back to how things were when the workload was prepared. Nil:
	// there is nothing to go back to, which the lab gets as an error.
	Reset func() error

	// Close closes everything that the workload has opened. It may be nil.
	Close func()
}

// Network counts the traffic on connections.
type Network struct {
	Opened  int64 // connections
	In, Out int64 // bytes received and sent
}

// Answered is the output of one operation.
type Answered struct {
	// Output is the operation's output, or another text with its meaning.
	// The next call may overwrite it.
	Output []byte

	// Size is the size of the operation's output in bytes, if Output is another
	// text: JSON for a binary encoding. Zero: Output is the output.
	Size int64
}

// Main serves the lab that started this process and exits: 0 when the lab is
// done, 1 when the connection broke, 2 when there is no lab and nothing to do
// alone.
func Main(p Program) {
	runtime.MemProfileRate = 0 // memory is only sampled for a profile
	os.Exit(startProgram(p, os.Stderr))
}

func startProgram(p Program, stderr io.Writer) int {
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
