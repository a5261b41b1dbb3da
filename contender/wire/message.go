// Package wire is the protocol between a program to measure, the contender, and the process that measures it,
// the lab. The lab sends a request of one line, and the contender replies with one line of JSON. See
// docs/contender-protocol.md.
//
// A slice is the timed work of one turn, in which contenders alternate. A pool has the bodies, the inputs of
// operations.
package wire

import "encoding/json"

// Protocol names this version of the protocol.
const Protocol = "tare.wire/1"

// EnvWire is the environment variable with the lab's address, see [Pipes]. Without it, no lab started the
// process.
const EnvWire = "TARE_WIRE"

// MaxLine is the length of the longest line that either side may write, in bytes.
const MaxLine = 16 << 20

// Operations of requests.
const (
	OpHello   = "hello"   // identify the contender
	OpPrepare = "prepare" // load a workload's input
	OpAnswer  = "answer"  // return the outputs of cases
	OpWarm    = "warm"    // run until warm, and return the speed
	OpSlice   = "slice"   // run the operations of one slice
	OpStats   = "stats"   // run a number of operations and return their allocations
	OpEnd     = "end"     // stop the server of a workload, as after a signal
	OpReset   = "reset"   // restore the state after prepare
	OpProfile = "profile" // run and return a profile of time or memory
	OpBye     = "bye"     // end the contender
)

// Request is one line from the lab. Fields that an operation does not use are omitted.
type Request struct {
	ID int64  `json:"id"`
	Op string `json:"op"`

	Protocol string `json:"protocol,omitempty"` // hello: version of the protocol
	Trial    string `json:"trial,omitempty"`    // hello: name of the trial, only for messages
	Seed     string `json:"seed,omitempty"`     // hello: decimal digits
	Variant  string `json:"variant,omitempty"`  // hello: "" for the first

	Workload *Workload `json:"workload,omitempty"` // prepare: workload to load
	On       string    `json:"on,omitempty"`       // id of the prepared workload
	Cases    []int     `json:"cases,omitempty"`    // answer: indices of bodies in the pool

	MinGC int64 `json:"min_gc,omitempty"` // warm: end after this many collection cycles or after MinNS, whichever is first
	MinNS int64 `json:"min_ns,omitempty"` // warm: see MinGC; slice: least time in ns; profile: time in ns
	CapNS int64 `json:"cap_ns,omitempty"` // warm, slice: stop after this time in ns; a slice first runs CapOps

	Lead   int64  `json:"lead,omitempty"`    // slice: operations before the measured ones
	Until  string `json:"until,omitempty"`   // slice: "ops", after Ops, or "gc", after Cycles
	Ops    int64  `json:"ops,omitempty"`     // slice until ops, stats: number of operations; slice until gc, warm: expected number
	Cycles int64  `json:"cycles,omitempty"`  // slice until gc: complete cycles; 0 means 1
	CapOps int64  `json:"cap_ops,omitempty"` // slice: operations to run even after CapNS

	Profile string `json:"profile,omitempty"` // profile: "cpu" or "mem"
}

// Workload defines the operations of a workload for a contender.
type Workload struct {
	ID      string `json:"id"`
	Fixture string `json:"fixture"`              // name of the fixture, e.g. devices; "" for any JSON
	N       int    `json:"n,omitempty"`          // items in each body
	Op      string `json:"op"`                   // operation of the kind
	Input   string `json:"input"`                // path of the pool, one body of JSON per line
	Bodies  int    `json:"bodies"`               // lines of the pool
	SHA256  string `json:"sha256"`               // hexadecimal checksum of the pool
	Heap    int64  `json:"heap_bytes,omitempty"` // bytes of live heap while the workload is prepared

	Set  map[string]string `json:"set,omitempty"`  // settings of the contender, e.g. log: discard
	Spec json.RawMessage   `json:"spec,omitempty"` // more data of the kind, e.g. a table of routes
}

// Reply is one line from the contender. An omitted field was not measured. The fields of embedded structs are
// in the same object.
type Reply struct {
	ID    int64  `json:"id"`
	Error *Error `json:"error,omitempty"`

	Hello
	Prepared

	Answers []Answer `json:"answers,omitempty"` // answer: outputs in the order of the cases

	Counts
	Calling
	Traffic
	Served

	Calls *Calls `json:"calls,omitempty"` // stats of app users: calls since prepare or reset

	Profile []byte `json:"profile,omitempty"` // profile: a pprof document, base64 on the wire
}

// Hello identifies a contender: the reply to hello.
type Hello struct {
	Protocol   string   `json:"protocol,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	PID        int      `json:"pid,omitempty"`
	Go         string   `json:"go,omitempty"` // version of the Go runtime, or of another language
	GOMAXPROCS int      `json:"gomaxprocs,omitempty"`
	Variants   []string `json:"variants,omitempty"` // omitted if there is only one
}

// Prepared is the reply to prepare.
type Prepared struct {
	Unsupported bool   `json:"unsupported,omitempty"` // the operation is not supported
	Fresh       bool   `json:"fresh,omitempty"`       // each output is newly allocated
	Addr        string `json:"addr,omitempty"`        // host:port at which a server listens
}

// Counts are costs of operations, in replies to warm, slice and stats. In the reply to end, WallNS is the time
// to end the server.
type Counts struct {
	Ops       int64  `json:"ops,omitempty"`         // warm, slice, stats: operations measured
	WallNS    int64  `json:"wall_ns,omitempty"`     // warm, slice, end: time in ns
	CPUNS     int64  `json:"cpu_ns,omitempty"`      // warm, slice: CPU time in ns, user and system
	IdleCPUNS int64  `json:"idle_cpu_ns,omitempty"` // slice: CPU time in ns since the previous measurement
	GC        int64  `json:"gc,omitempty"`          // warm, slice: completed collection cycles
	Errors    int64  `json:"errors,omitempty"`      // slice, stats: operations that failed
	BytesOut  int64  `json:"bytes_out,omitempty"`   // slice, stats: bytes of output
	Bytes     int64  `json:"bytes,omitempty"`       // stats: heap bytes allocated
	Allocs    int64  `json:"allocs,omitempty"`      // stats: heap objects allocated
	Message   string `json:"message,omitempty"`     // slice, stats: text of the first error
	UntimedNS int64  `json:"untimed_ns,omitempty"`  // warm, slice, stats of a benchmark: time of its last run in ns beyond WallNS, with the start of its process
}

// Calling are measurements of concurrent callers, in replies to warm and slice. Histograms are in ns, in the
// format of load/hist and base64. An open loop sets the start of each operation; only it has Service, Lag and
// Unsent.
type Calling struct {
	Begun      int64  `json:"begun,omitempty"`        // all operations: measured, in the lead-in, and in flight at the end
	UnderWayNS int64  `json:"under_way_ns,omitempty"` // operations in flight, integrated over the measured ns
	Latency    []byte `json:"latency,omitempty"`      // times of operations from start, or intended start, to end
	Service    []byte `json:"service,omitempty"`      // times from start to end
	Lag        []byte `json:"lag,omitempty"`          // times from intended start to start
	Unsent     int64  `json:"unsent,omitempty"`       // operations that should have started in the measured time
}

// Traffic counts a workload's connections since the last reply with traffic, or prepare. It is in replies to
// answer, warm, slice and stats.
type Traffic struct {
	Opened  int64 `json:"opened,omitempty"`   // opened connections
	WireIn  int64 `json:"wire_in,omitempty"`  // bytes received
	WireOut int64 `json:"wire_out,omitempty"` // bytes sent
}

// Served are a server's counts since the workload was prepared, in replies to stats.
type Served struct {
	Received     int64 `json:"received,omitempty"`       // answered requests
	ReceivedBody int64 `json:"received_bytes,omitempty"` // bytes of their bodies
	LayerCalls   int64 `json:"layer_calls,omitempty"`    // middleware calls
	Delivered    int64 `json:"delivered,omitempty"`      // items that the sink has accepted
}

// Calls counts the use-case calls that a service of app users received.
type Calls struct {
	Create int64  `json:"create"`
	Get    int64  `json:"get"`
	Update int64  `json:"update"`
	Delete int64  `json:"delete"`
	List   int64  `json:"list"`
	Sum    uint64 `json:"sum,string"` // sum of hashes of calls, modulo 2⁶⁴; decimal on the wire
}

// Answer is the output for one case.
type Answer struct {
	Case   int    `json:"case"`             // index of the body
	Output []byte `json:"output,omitempty"` // base64 on the wire
	Size   int64  `json:"size,omitempty"`   // bytes of the operation's output, if Output is another text with the same meaning
	Error  string `json:"error,omitempty"`  // error of the operation; "" if it succeeded
}

// Error is the reason why a request failed.
type Error struct {
	Class   string `json:"class"` // unknown-op, bad-request, unsupported, load, internal
	Message string `json:"message"`
}

// Error returns class and message in one line.
func (e *Error) Error() string { return e.Class + ": " + e.Message }
