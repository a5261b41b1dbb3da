// Package load is a load generator: it sends requests over HTTP/1.1, HTTP/2, HTTP/3 or
// gRPC and measures the responses. It opens a fixed number of connections. In a closed
// loop each connection sends its next request after a response. In an open loop requests
// are sent at intended times, whatever the responses, and latencies count from these
// times. Every result reports whether the load generator, the server or neither limited
// the rate.
//
//	s, err := load.Open(load.Options{Target: load.Target{Addr: "127.0.0.1:8080"}, Connections: 50,
//		Requests: []load.Request{{Method: "GET", Path: "/"}}})
//	defer s.Close()
//	r, err := s.Run(ctx, load.Leg{Lead: 500, Duration: 10 * time.Second})
//
// Two engines implement one interface: on Linux threads that each wait for many
// sockets with epoll, elsewhere goroutines on package net. A [Session] drives an engine
// through its phases; the engine reports every outcome to recorders, whose sums become
// the [Result].
package load

import (
	"crypto/tls"
	"time"

	"github.com/tarebench/tare/load/hist"
)

// Target is the address of the server.
type Target struct {
	Addr string      // host:port
	Host string      // value of the Host header; "" means Addr
	TLS  *tls.Config // nil means plain text
}

// Request is one request. All requests are serialised before the first is sent. If Header
// lacks Host, Content-Length or, on the last request of a connection, Connection, the
// field is added; for gRPC also Content-Type and TE.
type Request struct {
	Method string
	Path   string      // as in the request line: escaped, with the query; "" means /
	Header [][2]string // names and values, in order
	Body   []byte      // for gRPC the message without its prefix
	Status int         // the only status that is not an error; 0 means those of Options.Accept
	Stream bool        // gRPC: Body is any number of messages, each with its prefix, sent together; the response may have any number, too
	Items  int         // number of items in the body if it is a batch; see Totals.Acked
	Fill   []Fill      // numbers that change from request to request
}

// Fill makes requests differ: before a request is sent, a number replaces some of its bytes. For example a request
// creates the user with the next number, or reads an existing one. Fills of one request with the same Counter write
// the counter's value, each plus its own Add. If any of them has Step, the counter then increases by one. A number
// that does not fit its Width ends the phase with an error.
type Fill struct {
	Body    bool   // the number is in the body; otherwise in the path
	At      int    // offset of the number in bytes
	Width   int    // length of the number in bytes
	Varint  bool   // protocol buffers varint of exactly Width bytes; otherwise decimal digits with leading zeros
	Counter string // name of a counter of the session, which starts at zero; see Session.Rewind
	Step    bool   // increase the counter by one for each request
	Add     int64  // added to the value of the counter
}

// Engine names an implementation that sends requests.
type Engine string

// Engines.
const (
	Auto     Engine = ""         // Epoll if the system permits it, otherwise Portable
	Epoll    Engine = "epoll"    // Linux
	Portable Engine = "portable" // any system
)

// Protocol is the protocol of connections.
type Protocol string

// Protocols.
const (
	HTTP1 Protocol = ""     // HTTP/1.1
	H2C   Protocol = "h2c"  // HTTP/2 with prior knowledge in plain text, or over TLS
	HTTP3 Protocol = "h3"   // HTTP/3 over QUIC connections of Options.Carry, on the portable engine
	GRPC  Protocol = "grpc" // like H2C; the status of a response is the HTTP status that google.rpc.Code documents for its grpc-status
)

// DefaultTimeout is the time limit of a request if Options set none.
const DefaultTimeout = 10 * time.Second

// Options define a session: the requests, their target and the connections.
// Target.Addr and Requests are required; every other field has a default.
type Options struct {
	Target      Target
	Requests    []Request     // sent one after another over all connections of a thread, then from the first again
	Connections int           // 0 means 10
	Streams     int           // HTTP/2 on engine Epoll, and HTTP/3: requests in flight on each connection, at most as many as the server allows; 0 means 1
	Timeout     time.Duration // longest time of one request, and of opening a connection; 0 means DefaultTimeout
	PerConn     int           // requests on one connection before it is closed; 0 means no limit
	Handshake   Handshake     // how often TLS does a handshake; Full and Resume set PerConn to 1
	Engine      Engine
	Protocol    Protocol
	Carry       Carry // opens QUIC connections; required for HTTP3
	Threads     int   // of engine Epoll, which raises GOMAXPROCS to at least one more; 0 means one for each of CPUs, or without CPUs a quarter of the processors, rounded up
	CPUs        []int // processors of those threads; nil means any. The portable engine restricts the process to them during a phase, if the system permits: see Result.Threads

	// Verify checks a sample of the responses. request is the index in
	// Requests; body is the received body, for gRPC with the prefix of the
	// message, and must not be retained. An error of Verify counts as an error
	// of class answer. If Verify is nil, only statuses are checked.
	Verify func(request, status int, body []byte) error
	Sample int // one response in Sample is verified; 0 means 1000
	// Accept reports whether a status is not an error. If it is nil, 200 to 399 are not.
	Accept func(status int) bool
}

// Leg is one phase of load on an open session: a lead-in, and without a pause the measured part. Measuring begins
// when Lead and LeadTime are both over, and ends with the first of Ops and Duration that are set. Lead and Ops count
// requests that have ended, with a response or an error. In an open loop a request belongs to the part that contains
// its intended time, and time zero of the profile is the beginning of the lead-in.
type Leg struct {
	Lead     int64         // number of requests before measuring begins, sent in the same way
	LeadTime time.Duration // least time before measuring begins
	Ops      int64         // closed loop: number of measured requests; 0 means that Duration ends the phase
	Duration time.Duration // measured time; 0 means that Ops ends the phase
	Profile  Profile       // intended rate of an open loop; nil means a closed loop
	Seed     uint64        // seed of random profiles
	At       time.Time     // open loop: time zero of the profile, even if connections are still missing then; zero means once all are open
	Think    time.Duration // closed loop: wait between a response and the next request

	// Hold are the objectives for which Result.Blocks are recorded, so that SLO.Hold
	// can compute confidence intervals. It requires Duration.
	Hold SLO

	// Mark is called when measuring begins and when it ends, often by a thread that
	// sends requests, so it must return quickly and not use the session. It may be
	// nil. After the end the engine still waits for the requests in flight.
	Mark func(begin bool)
	// Tick is called about once a second, on a separate goroutine, with the second
	// that has passed. It may be nil.
	Tick func(Tick)
}

// Class is the kind of an error.
type Class string

// Classes of errors.
const (
	ErrConnect Class = "connect" // no connection could be opened
	ErrReset   Class = "reset"   // the connection, or the stream of HTTP/2, broke before the response was complete
	ErrTimeout Class = "timeout" // no complete response in time
	ErrFraming Class = "framing" // the response violates the protocol
	ErrStatus  Class = "status"  // the status is not the request's Status, or Accept rejects it
	ErrAnswer  Class = "answer"  // Verify returned an error
)

// Classes lists the classes of errors.
func Classes() []Class {
	return []Class{ErrConnect, ErrReset, ErrTimeout, ErrFraming, ErrStatus, ErrAnswer}
}

// Result is the outcome of a phase. Counts and histograms are about its measured part, except that the fields about
// connections (Opened, Reconnects, Resent, Resumed, Connect, Handshake and errors of class connect) and FirstError
// are about the complete phase. Every sent request either got a complete response or was lost to an error of class
// reset, timeout or framing: Sent is Requests plus these errors, less Unasked. A request with an error of class
// status or answer has a complete response.
type Result struct {
	Engine      Engine
	Connections int
	Streams     int           // most requests in flight on each connection; 0 means 1
	Threads     int           // sending threads; portable engine: processors that the process could use
	Wall        time.Duration // duration of the measured part
	Sent        int64         // number of requests, with or without a response
	Requests    int64         // complete responses of any status
	Statuses    map[int]int64
	Codes       map[int]int64 // gRPC: responses by grpc-status; statuses above 16 count as 2 (UNKNOWN)
	Errors      map[Class]int64
	Unasked     int64  // times that the server sent bytes with no request in flight; also errors of class framing
	FirstError  string // the first error in words; "" if there was none
	Resumed     int64  // TLS handshakes that resumed an earlier session; Handshake contains them, too
	Opened      int64  // connections made during the phase, lead-in and reconnects included
	Reconnects  int64  // those of Opened that replaced a connection which broke or was closed
	Resent      int64  // HTTP/2: times during the phase that a request was sent again, because the server had not processed it

	Latency   *hist.Hist // ns; closed loop: from sending, open loop: from the intended time; a timeout counts as the timeout or the time since then, whichever is longer
	Service   *hist.Hist // ns from sending, in either loop
	FirstByte *hist.Hist // ns from sending to the first byte of the response
	Connect   *hist.Hist // ns to open a connection, its TLS handshake included
	Handshake *hist.Hist // ns of TLS handshakes only
	SendLag   *hist.Hist // open loop: ns from the intended time to sending

	Asked       float64 // open loop: requested rate per second; 0 means a closed loop
	Late        int64   // open loop: intended times within the phase whose request had not been sent when it ended
	Concurrency float64 // mean number of requests in flight, from the engine's record of every change
	BytesIn     int64
	BytesOut    int64
	BodyIn      int64
	BodyOut     int64
	CPU         time.Duration // CPU time of the sending threads, or of the process if the threads cannot be measured separately
	Wait        time.Duration // time in which those threads were runnable and did not run, pauses by a CPU quota included; negative if unknown
	Timeline    []Second      // complete seconds of the measured part
	Steps       []StepResult  // with a profile of type Step: one result per step
	Blocks      []Block       // with Leg.Hold: the measured part in parts of equal length
}

// Second is one second of a phase.
type Second struct {
	At       time.Duration // start of the second, since measuring began
	Requests int64
	Errors   int64
	Classes  map[Class]int64 // errors by class; nil if there were none
	P50      time.Duration
	P99      time.Duration
	Max      time.Duration
	Bins     []hist.Bin // latencies in bins, four to a doubling
}

// Tick is a second that has passed, and the result of the phase up to the end of the second.
type Tick struct {
	Second
	// SoFar is the result that the phase would have if it had ended with this second. It
	// omits the times of connections, and in an open loop it computes Asked and Late from
	// the profile's mean rate.
	SoFar *Result
}
