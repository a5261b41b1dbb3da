// Package wire is the contender protocol: JSON lines on two pipes. The lab
// sends requests, the contender replies, one line each; docs/contender-protocol.md is
// the specification for authors in any language.
package wire

import "encoding/json"

// Protocol names this version of the protocol.
const Protocol = "tare.wire/1"

// EnvWire is the environment variable with the two inherited descriptors, requests first: "3,4". A process
// without it was not started by a lab.
const EnvWire = "TARE_WIRE"

// MaxLine is the longest line either side may write, in bytes.
const MaxLine = 16 << 20

// Operations of requests.
const (
	OpHello   = "hello"   // identify the contender
	OpPrepare = "prepare" // load a workload's input
	OpAnswer  = "answer"  // do the work once per case and show the output
	OpWarm    = "warm"    // run until warm, report the speed
	OpSlice   = "slice"   // the timed work of one token
	OpStats   = "stats"   // a fixed number of operations between two memory readings
	OpEnd     = "end"     // of a server: stop serving a workload, as a signal would make it
	OpReset   = "reset"   // go back to how it was when the workload was prepared, off the clock
	OpProfile = "profile" // run for some time and return a profile of time or memory
	OpBye     = "bye"     // end
)

// Request is one line from the lab. Fields that an operation does not use are
// omitted.
type Request struct {
	ID int64  `json:"id"`
	Op string `json:"op"`

	Protocol string `json:"protocol,omitempty"` // hello
	Trial    string `json:"trial,omitempty"`    // hello: for messages only
	Seed     string `json:"seed,omitempty"`     // hello: decimal
	Variant  string `json:"variant,omitempty"`  // hello: which of the contender's variants to be

	Workload *Workload `json:"workload,omitempty"` // prepare
	On       string    `json:"on,omitempty"`       // answer, warm, slice, stats, end, reset: id of a prepared workload
	Cases    []int     `json:"cases,omitempty"`    // answer: indices of bodies in the pool

	MinGC int64 `json:"min_gc,omitempty"` // warm: at least this many collection cycles …
	MinNS int64 `json:"min_ns,omitempty"` // … or this long (warm); slice: not shorter than this
	CapNS int64 `json:"cap_ns,omitempty"` // warm, slice: stop here whatever happens (after at least CapOps)

	Lead   int64  `json:"lead,omitempty"`    // slice: unmeasured operations first
	Until  string `json:"until,omitempty"`   // slice: "ops" or "gc"
	Ops    int64  `json:"ops,omitempty"`     // slice until ops: how many; until gc, and warm: how many are expected; stats: how many
	Cycles int64  `json:"cycles,omitempty"`  // slice until gc: number of complete cycles; zero: 1
	CapOps int64  `json:"cap_ops,omitempty"` // slice: operations to do even past cap_ns

	Profile string `json:"profile,omitempty"` // profile: cpu or mem; for min_ns
}

// Workload defines the operations of a workload for a contender.
type Workload struct {
	ID      string `json:"id"`
	Fixture string `json:"fixture"` // name of the input's type, e.g. devices; empty: any JSON
	N       int    `json:"n,omitempty"`
	Op      string `json:"op"`
	Input   string `json:"input"`                // path of the pool: one canonical JSON body per line
	Bodies  int    `json:"bodies"`               // lines in it
	SHA256  string `json:"sha256"`               // of the file
	Heap    int64  `json:"heap_bytes,omitempty"` // live heap to hold while the workload is prepared

	Set  map[string]string `json:"set,omitempty"`  // how to be configured, e.g. log: discard; the kind knows the words
	Spec json.RawMessage   `json:"spec,omitempty"` // further data of the kind, e.g. a table of routes
}

// Reply is one line from the contender, with the id of the request. An omitted field
// was not measured. On the wire the fields of all groups stand side by side.
type Reply struct {
	ID    int64  `json:"id"`
	Error *Error `json:"error,omitempty"`

	Hello
	Prepared

	Answers []Answer `json:"answers,omitempty"` // answer

	Counts
	Calling
	Traffic
	Served

	Calls *Calls `json:"calls,omitempty"` // stats of a server of users: since prepare or reset

	Profile []byte `json:"profile,omitempty"` // profile: a pprof document, base64 on the wire
}

// Hello identifies a contender: the reply to hello.
type Hello struct {
	Protocol   string   `json:"protocol,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	PID        int      `json:"pid,omitempty"`
	Go         string   `json:"go,omitempty"` // version of the runtime, or the language's own
	GOMAXPROCS int      `json:"gomaxprocs,omitempty"`
	Variants   []string `json:"variants,omitempty"` // those it knows
}

// Prepared is the reply to prepare.
type Prepared struct {
	Unsupported bool   `json:"unsupported,omitempty"` // this contender does not support the operation
	Fresh       bool   `json:"fresh,omitempty"`       // the operation hands out a fresh value each time
	Addr        string `json:"addr,omitempty"`        // of a server: where it listens, host:port
}

// Counts are the costs of operations: in replies to warm, slice and stats.
type Counts struct {
	Ops       int64  `json:"ops,omitempty"`         // warm, slice, stats: operations measured
	WallNS    int64  `json:"wall_ns,omitempty"`     // warm, slice; end: until it had ended
	CPUNS     int64  `json:"cpu_ns,omitempty"`      // warm, slice: user + system, of the process
	IdleCPUNS int64  `json:"idle_cpu_ns,omitempty"` // slice: CPU since the previous reply
	GC        int64  `json:"gc,omitempty"`          // warm, slice: collection cycles completed
	Errors    int64  `json:"errors,omitempty"`      // slice, stats: operations that returned an error
	BytesOut  int64  `json:"bytes_out,omitempty"`   // slice, stats: bytes of output
	Bytes     int64  `json:"bytes,omitempty"`       // stats: heap bytes allocated
	Allocs    int64  `json:"allocs,omitempty"`      // stats: heap objects allocated
	Message   string `json:"message,omitempty"`     // slice, stats: the first error's text
	UntimedNS int64  `json:"untimed_ns,omitempty"`  // warm, slice, stats of a benchmark: time of its last run in addition to WallNS, with the start of a process of its own
}

// Calling is of warm and slice with several callers at once. Histograms are in ns, as
// words of package load/hist, base64 on the wire.
type Calling struct {
	Begun      int64  `json:"begun,omitempty"`        // all operations: those measured, the lead-in, and those in flight at the end
	UnderWayNS int64  `json:"under_way_ns,omitempty"` // operations in flight × ns, summed while measuring
	Latency    []byte `json:"latency,omitempty"`      // of the measured operations; in an open loop from when each was meant to begin
	Service    []byte `json:"service,omitempty"`      // of an open loop: from when each began
	Lag        []byte `json:"lag,omitempty"`          // of an open loop: from when each was meant to begin until it did
	Unsent     int64  `json:"unsent,omitempty"`       // of an open loop: operations that were meant to begin while measuring and did not
}

// Traffic is of a workload whose operations go over connections: since the last reply
// with traffic, or prepare. It is in replies to answer, warm, slice and stats.
type Traffic struct {
	Opened  int64 `json:"opened,omitempty"`   // connections
	WireIn  int64 `json:"wire_in,omitempty"`  // bytes received on them
	WireOut int64 `json:"wire_out,omitempty"` // bytes sent
}

// Served are a server's counts since the workload was prepared: in replies to stats.
type Served struct {
	Received     int64 `json:"received,omitempty"`       // requests answered
	ReceivedBody int64 `json:"received_bytes,omitempty"` // of their bodies read
	LayerCalls   int64 `json:"layer_calls,omitempty"`    // of middleware
	Delivered    int64 `json:"delivered,omitempty"`      // items that its sink has taken
}

// Calls are the use-case calls that a service of users received.
type Calls struct {
	Create int64  `json:"create"`
	Get    int64  `json:"get"`
	Update int64  `json:"update"`
	Delete int64  `json:"delete"`
	List   int64  `json:"list"`
	Sum    uint64 `json:"sum,string"` // of a hash of each call with its arguments, modulo 2⁶⁴; decimal digits on the wire
}

// Answer is the output for one case.
type Answer struct {
	Case   int    `json:"case"`
	Output []byte `json:"output,omitempty"` // base64 on the wire
	Size   int64  `json:"size,omitempty"`   // size of the operation's output in bytes, if Output is another text with its meaning
	Error  string `json:"error,omitempty"`
}

// Error is the reason why a request failed.
type Error struct {
	Class   string `json:"class"` // unknown-op, bad-request, unsupported, load, internal
	Message string `json:"message"`
}

// Error returns class and message in one line.
func (e *Error) Error() string { return e.Class + ": " + e.Message }
