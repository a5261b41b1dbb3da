// Package contender is the SDK for contenders, the programs that tare measures. It implements their side of
// docs/contender-protocol.md: it reads requests, loads inputs, runs the timed loop and reports its cost.
//
// A kind of contender, such as contender/codec, defines operations. An author only implements them with a
// library.
//
// The timed loop cycles through a pool of inputs (bodies) and does not allocate. It reads the clock only after
// many operations. After each it only adds the output size and counts errors.
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

// ErrUnsupported is returned by Prepare for an unsupported operation. The contender then does not take part in
// the workload.
var ErrUnsupported = errors.New("operation not supported")

// Program is a contender.
type Program struct {
	Kind     string   // such as codec
	Variants []string // default first; nil if there is only one

	// Prepare loads bodies, which it may retain, and returns the work of w. It is not timed.
	Prepare func(variant string, w wire.Workload, bodies [][]byte) (Work, error)

	// Serve replaces Prepare for servers. It starts a server for w and returns when the server answers. The
	// previous server has ended.
	Serve func(variant string, w wire.Workload) (Served, error)

	// Prepares reports whether w is for Prepare, in a program with Serve. nil means that all workloads are for
	// Serve.
	Prepares func(w wire.Workload) bool

	// Alone runs the program by itself, unmeasured, and returns the exit code. If it is nil, the program
	// prints a message and fails.
	Alone func(args []string, stdout, stderr io.Writer) int
}

// Work is one prepared workload.
type Work struct {
	// Fresh means that every operation returns newly allocated output. It then allocates at least the bytes of
	// the output.
	Fresh bool

	// Do runs one operation on body i, in the timed loop. It returns the bytes of its output. It must store
	// the output, so that the compiler cannot omit the work.
	Do func(i int) (outBytes int, err error)

	// Answer runs the same operation through the same code and returns its output.
	Answer func(i int) (Answered, error)

	// Callers is the number of goroutines that call Do concurrently. Each operation is then timed, and the
	// reply has latencies. 0 means one goroutine, which measures only the total time.
	Callers int

	// Times makes the callers an open loop: each operation has an intended start. It returns a function for
	// one start after another, as time since the start of the run. Latencies count from them. Each run has
	// another seed.
	//
	// nil means that a caller starts its next operation when the last has ended.
	Times func(seed uint64) func() time.Duration

	// Network returns the traffic since Prepare. It may be called at any time. nil means that nothing is
	// counted.
	Network func() Network

	// Reset restores the state after Prepare. If nil, a request to reset fails.
	Reset func() error

	// Close closes everything that the workload has opened. It may be nil.
	Close func()
}

// Network counts the traffic on connections.
type Network struct {
	Opened  int64 // opened connections
	In, Out int64 // bytes received and sent
}

// Answered is the output of one operation.
type Answered struct {
	// Output is the operation's output, or another text with the same meaning. The next call may overwrite it.
	Output []byte

	// Size is the size of the operation's output in bytes. 0 means that of Output. They differ if Output is
	// JSON for a binary encoding, for example.
	Size int64
}

// Main serves the measuring process that started this one. It exits with 0 at the end, or 1 if the connection
// fails. If no measuring process started it, Main exits with the result of p.Alone, or 2 if p.Alone is nil.
func Main(p Program) {
	runtime.MemProfileRate = 0 // only profiles sample allocations
	os.Exit(startProgram(p, os.Stderr))
}

// startProgram is Main without the exit.
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
	_ = os.Unsetenv(wire.EnvWire) // child processes must not use the pipes
	if err := Serve(p, in, out); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
