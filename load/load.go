// Package load sends requests over HTTP/1.1, HTTP/2 or gRPC and measures the
// responses. It opens a fixed number of connections, in a closed loop (each sends its next
// request after a response) or an open one (requests are sent at their
// intended times, whatever the responses, and latencies count from those times),
// and reports with every result whether the load generator, the server
// or neither set the limit.
//
//	s, err := load.Open(load.Options{Target: load.Target{Addr: "127.0.0.1:8080"}, Connections: 50,
//		Requests: []load.Request{{Method: "GET", Path: "/"}}})
//	defer s.Close()
//	r, err := s.Run(ctx, load.Leg{Lead: 500, Duration: 10 * time.Second})
//
// Engines implement one interface: on Linux threads that each wait for
// many sockets, by epoll, elsewhere goroutines on package net.
package load

import (
	"crypto/tls"
	"time"

	"github.com/tarebench/tare/load/hist"
)

// Target is the address of the server.
type Target struct {
	Addr string      // host:port
	Host string      // of the Host header; empty: Addr
	TLS  *tls.Config // nil: plain text
}

// Request is one request, serialised before any is sent. Host, Content-Length
// and Connection are filled in where Header does not have them; of gRPC
// Content-Type and TE.
type Request struct {
	Method string
	Path   string      // as in the request line: escaped, with the query; empty: /
	Header [][2]string // in order
	Body   []byte      // of gRPC: the message without its prefix
	Status int         // the only status that is not an error; 0: those of Options.Accept
	Stream bool        // gRPC: Body is any number of messages with their prefixes, and so is an answer's; all are sent at once
	Items  int         // in the body, where it is a batch; see Totals
	Fill   []Fill
}

// Fill is a number that is written into a request each time before it is sent, in place of existing bytes, so
// that requests differ: to create the user with the next number, or to read one that exists. Fills of one
// request with the same counter write the same number, each with its Add, and the counter increases by one if
// any of them has Step. A number that does not have its Width ends the phase with an error.
type Fill struct {
	Body    bool   // it is in the body; else in the path
	At      int    // offset in bytes
	Width   int    // bytes
	Varint  bool   // of protocol buffers, which has to take Width bytes; else digits, with zeros before them
	Counter string // of the session, from zero; see Session.Rewind
	Step    bool   // the counter goes up by one with it
	Add     int64  // to the counter
}

// Engine names a way to send.
type Engine string

// Engines.
const (
	Auto     Engine = ""         // epoll where it can be had, else portable
	Epoll    Engine = "epoll"    // Linux
	Portable Engine = "portable" // everywhere, with or without TLS
)

// Protocol is the protocol of connections.
type Protocol string

// Protocols.
const (
	HTTP1 Protocol = ""     // HTTP/1.1
	H2C   Protocol = "h2c"  // HTTP/2 in plain text with prior knowledge, or over TLS
	HTTP3 Protocol = "h3"   // HTTP/3 over the connections of Options.Carry, on the portable engine
	GRPC  Protocol = "grpc" // like H2C, and answers have the status of their trailers: the one of HTTP that google.rpc.Code names
)

// DefaultTimeout is the time limit of a request if Options set none.
const DefaultTimeout = 10 * time.Second

// Options say what is sent where. Target.Addr and Requests are needed; every
// other zero value works.
type Options struct {
	Target      Target
	Requests    []Request     // taken in turn, over all connections of a thread
	Connections int           // zero: 10
	Streams     int           // HTTP/2, not on the portable engine, and HTTP/3: requests in flight on each, as far as the server allows; 0 means 1
	Timeout     time.Duration // of one request, and of a connect; zero: DefaultTimeout
	PerConn     int           // requests on one connection before it is closed; zero: no limit
	Handshake   Handshake     // over TLS; Full and Resume set PerConn to 1
	Engine      Engine
	Protocol    Protocol
	Carry       Carry // of HTTP3
	Threads     int   // of the engine epoll, which raises GOMAXPROCS to one more where it is less; zero: one for each of CPUs, or a quarter of the processors, rounded up
	CPUs        []int // processors of those threads; nil: any. The portable engine restricts the process to them during a phase, if the system permits: see Result.Threads

	// Verify is given a sample of the answers: request is the index in
	// Requests; body is what came, of gRPC with the prefix of the message. It
	// must not keep body. Its error counts as one of class
	// answer. Nil: no answer is looked at beyond its status.
	Verify func(request, status int, body []byte) error
	Sample int // one response in Sample is verified; zero: 1000
	// Accept reports whether a status is not an error. Nil: 200 to 399.
	Accept func(status int) bool
}

// Leg is one phase of load on an open session. The lead-in continues in the measured part without a pause: with
// both Lead and LeadTime measuring begins when both are over, with both Ops and Duration it ends with the
// first of them. Requests end a lead-in and count for Ops with their outcomes, responses and errors alike; in
// an open loop they belong to the part of their intended time, and the profile's time zero is the beginning of
// the lead-in.
type Leg struct {
	Lead     int64         // requests before anything is measured, sent in the same way
	LeadTime time.Duration // or so long
	Ops      int64         // measured requests, in a closed loop; zero: by Duration
	Duration time.Duration // measured time
	Profile  Profile       // of an open loop; nil: closed loop
	Seed     uint64        // of random profiles
	At       time.Time     // time zero of the profile, whether all connections were made by then or not; zero: when they are
	Think    time.Duration // closed loop: wait between an answer and the next request

	// Hold are objectives that Result.Blocks are to say how sure they are of, for
	// SLO.Hold; of a phase with a Duration.
	Hold SLO

	// Mark is called when measuring begins and when it ends, from wherever
	// requests are sent from, so it must be quick and leave the session alone.
	// It may be nil. After the end the requests in flight are still
	// waited for, unmeasured.
	Mark func(begin bool)
	// Tick is called about once a second with the second that has passed, from
	// another goroutine. It may be nil.
	Tick func(Tick)
}

// Class is the kind of an error.
type Class string

// Classes of errors.
const (
	ErrConnect Class = "connect" // no connection could be made
	ErrReset   Class = "reset"   // the connection, or the stream of HTTP/2, broke before the response was complete
	ErrTimeout Class = "timeout" // no complete response in time
	ErrFraming Class = "framing" // the response violates the protocol
	ErrStatus  Class = "status"  // not the request's Status, or one that Accept does not take
	ErrAnswer  Class = "answer"  // Verify did not like it
)

// Classes lists the classes of errors.
func Classes() []Class {
	return []Class{ErrConnect, ErrReset, ErrTimeout, ErrFraming, ErrStatus, ErrAnswer}
}

// Result is the outcome of a phase. Counts and histograms are of its measured part; connections (Opened,
// Reconnects, Resent, Resumed, Connect, Handshake and errors of class connect) and FirstError are of the
// complete phase. Every sent request either got a complete response or was lost to an error of class reset,
// timeout or framing: Sent is Requests plus those errors, less Unasked. Errors of class status and answer are
// of requests with a complete response.
type Result struct {
	Engine      Engine
	Connections int
	Streams     int           // on each, at most; zero: 1
	Threads     int           // that sent; of the portable engine: processors that the process could use
	Wall        time.Duration // measured
	Sent        int64         // requests
	Requests    int64         // complete responses of any status
	Statuses    map[int]int64
	Codes       map[int]int64 // of gRPC: grpc-status; those above 16 are 2, UNKNOWN
	Errors      map[Class]int64
	Unasked     int64  // times that a server sent bytes with no request in flight; also errors of class framing
	FirstError  string // in words; empty: there was none
	Resumed     int64  // handshakes of TLS that went on from an earlier one, of those in Handshake
	Opened      int64  // connections made during the phase, lead-in and reconnects included
	Reconnects  int64  // of those, to replace one that broke or was closed
	Resent      int64  // HTTP/2: times during the phase that a request was sent again, because the server had not processed it

	Latency   *hist.Hist // ns; closed loop: from sending, open loop: from the intended time; a timeout enters at the timeout or at the time since then, whichever is more
	Service   *hist.Hist // ns from sending, in either loop
	FirstByte *hist.Hist // ns from sending to the first byte of the answer
	Connect   *hist.Hist // ns to make a connection, its handshake included
	Handshake *hist.Hist // ns of the handshakes of TLS alone
	SendLag   *hist.Hist // open loop: ns from the intended time to sending

	Asked       float64 // open loop: requested rate per second; zero: closed loop
	Late        int64   // open loop: intended times within the phase whose request had not been sent when it ended
	Concurrency float64 // mean number of requests in flight, from the engine's record of every change
	BytesIn     int64
	BytesOut    int64
	BodyIn      int64
	BodyOut     int64
	CPU         time.Duration // of the sending threads; of the process if the threads cannot be measured separately
	Wait        time.Duration // those threads were runnable and did not run, a quota's pauses included; negative: unknown
	Timeline    []Second
	Steps       []StepResult // of a profile of steps
	Blocks      []Block      // with Leg.Hold: the measured part in parts of equal length
}

// Second is one second of a phase.
type Second struct {
	At       time.Duration // of its beginning, since measuring began
	Requests int64
	Errors   int64
	Classes  map[Class]int64 // of the errors; nil: there were none
	P50      time.Duration
	P99      time.Duration
	Max      time.Duration
	Bins     []hist.Bin // of the latencies, four to a doubling
}

// Tick is a second that has passed, and the phase up to its end.
type Tick struct {
	Second
	// SoFar is the result that the phase would have, had it ended with the second. It omits the
	// times of connections, and of an open loop Asked and Late are those
	// of the profile's mean rate.
	SoFar *Result
}
