// Package contender is the SDK for contenders, programs that tare measures, written in Go. It implements
// the contender's side of the protocol in docs/contender-protocol.md: it reads the requests of the lab, the
// process that measures, loads inputs, runs the timed loop and reports its cost. A kind of contender, such
// as contender/codec, defines the operations; an author only implements them with a library.
//
// The timed loop itself does not allocate. It cycles through a pool of inputs (bodies),
// and reads the clock and the number of collection cycles only after many operations. After
// each operation it only adds the size of the output and counts errors.
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
	Kind     string   // name of the kind, e.g. codec
	Variants []string // names of the variants, the default first; nil if there is only one

	// Prepare loads bodies and returns the work of workload w. Its time is not measured. It may retain
	// bodies. After an error the contender does not take part in this workload.
	Prepare func(variant string, w wire.Workload, bodies [][]byte) (Work, error)

	// Serve replaces Prepare for kinds whose operations are requests that the lab sends over the network.
	// It starts a server for workload w and returns as soon as the server answers. The previous server has
	// ended before. After an error the contender does not take part in this workload.
	Serve func(variant string, w wire.Workload) (Served, error)

	// Prepares reports whether w is for Prepare, in a program that has Serve as
	// well. If it is nil, all workloads are for Serve.
	Prepares func(w wire.Workload) bool

	// Alone runs the program without a lab, and returns the exit code. If it is
	// nil, the program prints a message and fails.
	Alone func(args []string, stdout, stderr io.Writer) int
}

// Work is one prepared workload.
type Work struct {
	// Fresh means that every operation returns newly allocated output, so that it
	// must allocate at least as many bytes as the output has.
	Fresh bool

	// Do runs one operation on body i and returns the size of its output in bytes. The timed loop calls Do.
	// Do must store the output in such a way that the compiler cannot find out that the output is not read.
	Do func(i int) (outBytes int, err error)

	// Answer runs the same operation through the same code and returns its output.
	Answer func(i int) (Answered, error)

	// Callers is the number of goroutines that call Do concurrently, which Do must support. Each operation of
	// a caller is timed separately, and the reply has latencies; slices, the timed runs, end after a number
	// of operations. If Callers is 0, one goroutine runs the timed loop, and only its total time is measured.
	Callers int

	// Times makes the callers an open loop, in which each operation has an intended start, as in a profile of
	// package load/pace. It returns a function whose calls return the intended starts of one operation after
	// another, as the time since the start of the run. Latencies are measured from the intended start. Each run has
	// another seed. If Times is nil, each caller starts its next operation as soon as the previous one has ended.
	Times func(seed uint64) func() time.Duration

	// Network returns the traffic of the operations on connections since the workload was prepared. It may
	// be called at any time. It is nil without connections, or if they are not counted.
	Network func() Network

	// Reset restores the state that the workload had after Prepare. It may be nil; a request to reset then fails.
	Reset func() error

	// Close closes everything that the workload has opened. It may be nil.
	Close func()
}

// Network counts the traffic on connections.
type Network struct {
	Opened  int64 // number of connections that were opened
	In, Out int64 // bytes received and sent
}

// Answered is the output of one operation.
type Answered struct {
	// Output is the operation's output, or another text with the same meaning. The next call may overwrite it.
	Output []byte

	// Size is the size of the operation's output in bytes, if Output is another
	// text, such as JSON in place of a binary encoding. Otherwise Size may be 0.
	Size int64
}

// Main serves the lab that started this process, and exits: with 0 after the lab
// has ended the session, and with 1 if the connection fails. If no lab started the
// process, Main calls p.Alone and exits with its result, or with 2 if p.Alone is nil.
func Main(p Program) {
	runtime.MemProfileRate = 0 // allocations are sampled only while a profile is taken
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
	_ = os.Unsetenv(wire.EnvWire) // child processes of the contender must not use the pipes
	if err := Serve(p, in, out); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
