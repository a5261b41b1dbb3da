// Package load is a load generator. It sends requests over HTTP/1.1, HTTP/2, HTTP/3 or gRPC and measures
// the responses, on a fixed number of connections. In a closed loop each connection sends its next request
// after a response. In an open loop requests have intended times, and latencies count from these times.
// Every result reports what limited the rate: the load generator, the server or neither.
//
//	s, err := load.Open(load.Options{
//		Target:      load.Target{Addr: "127.0.0.1:8080"},
//		Connections: 50,
//		Requests:    []load.Request{{Method: "GET", Path: "/"}},
//	})
//	defer s.Close()
//	r, err := s.Run(ctx, load.Leg{Lead: 500, Duration: 10 * time.Second})
//
// There are two engines. On Linux, each of a few threads waits for many sockets with epoll. Elsewhere
// goroutines use package net. A [Session] runs phases on an engine. Recorders count every outcome; their
// sums are the [Result].
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

// Request is one request. All requests are serialised before the first is sent. Missing fields Host,
// Content-Length and Connection are added if needed, and for gRPC Content-Type and TE.
type Request struct {
	Method string
	Path   string      // as in the request line: escaped, with the query; "" means /
	Header [][2]string // names and values, in order
	Body   []byte      // for gRPC the message without its prefix
	Status int         // the only correct status; 0 means those of Options.Accept
	Stream bool        // gRPC: a stream of any number of messages both ways; Body has their prefixes
	Items  int         // number of items in the body of a batch; see Totals.Acked
	Fill   []Fill
}

// Fill makes requests differ: before a request is sent, a number replaces some of its bytes. For example,
// each request creates the user with the next number. Fills of one request with the same Counter write its
// value, each plus its own Add. If any of them has Step, the counter then increases by one. A number that
// does not fit its Width ends the phase with an error.
type Fill struct {
	Body    bool   // the number is in the body; otherwise in the path
	At      int    // offset in bytes
	Width   int    // length in bytes
	Varint  bool   // protocol buffers varint; otherwise decimal digits with leading zeros
	Counter string // name of a counter, which starts at zero; see Session.Rewind
	Step    bool   // increase the counter for each request
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
	HTTP3 Protocol = "h3"   // over the QUIC connections of Options.Carry
	GRPC  Protocol = "grpc" // like H2C; a status is the one that google.rpc.Code documents for the grpc-status
)

// DefaultTimeout is the time limit of a request if Options set none.
const DefaultTimeout = 10 * time.Second

// Options define a session: the requests, their target and the connections. Target.Addr and Requests are
// required. Every other field has a default.
type Options struct {
	Target      Target
	Requests    []Request     // each thread sends them in order, again and again
	Connections int           // 0 means 10
	Streams     int           // HTTP/3, and HTTP/2 on engine Epoll: requests in flight on each connection; 0 means 1
	Timeout     time.Duration // of one request, and of opening a connection; 0 means DefaultTimeout
	PerConn     int           // requests on one connection before it is closed; 0 means no limit
	Handshake   Handshake     // how often TLS does a handshake; Full and Resume set PerConn to 1
	Engine      Engine
	Protocol    Protocol
	Carry       Carry // opens QUIC connections; required for HTTP3
	Threads     int   // of engine Epoll; 0 means one for each of CPUs, or else a quarter of the processors, rounded up. GOMAXPROCS is raised to one more.
	CPUs        []int // processors of the threads; nil means any. The portable engine restricts the process to them during a phase, if permitted.

	// Verify checks a sample of the responses. request is an index in Requests. body must not be retained;
	// for gRPC it includes prefixes. An error of Verify has class answer. If Verify is nil, only statuses
	// are checked.
	Verify func(request, status int, body []byte) error
	Sample int // one response in Sample is verified; 0 means 1000
	// Accept reports whether a status is not an error. If it is nil, 200 to 399 are not.
	Accept func(status int) bool
}

// Leg is one phase of load on an open session: a lead-in and the measured part. Measuring begins when Lead
// and LeadTime are over. It ends after Ops or Duration, whichever comes first. Lead and Ops count requests
// that have ended, with a response or an error. In an open loop a request belongs to the part of its
// intended time. Time zero of the profile is the beginning of the lead-in.
type Leg struct {
	Lead     int64         // requests before measuring begins, sent in the same way
	LeadTime time.Duration // least time before measuring begins
	Ops      int64         // closed loop: number of measured requests; 0 means no limit
	Duration time.Duration // measured time; 0 means no limit
	Profile  Profile       // intended rate of an open loop; nil means a closed loop
	Seed     uint64        // seed of random profiles
	At       time.Time     // open loop: time zero of the profile, even without all connections; zero means when all are open
	Think    time.Duration // closed loop: wait between a response and the next request

	// Hold are the objectives for which SLO.Hold can compute confidence intervals. It requires Duration.
	Hold SLO

	// Mark is called when measuring begins and when it ends. A sending thread may call it, so it must
	// return quickly and not use the session. It may be nil. Requests may still be in flight after the end.
	Mark func(begin bool)
	// Tick is called about once a second, on a separate goroutine, with the last second. It may be nil.
	Tick func(Tick)
}

// Class is the kind of an error.
type Class string

// Classes of errors.
const (
	ErrConnect Class = "connect" // no connection could be opened
	ErrReset   Class = "reset"   // the connection or stream broke before the response was complete
	ErrTimeout Class = "timeout" // no complete response in time
	ErrFraming Class = "framing" // the response violates the protocol
	ErrStatus  Class = "status"  // the status is not the request's Status, or Accept rejects it
	ErrAnswer  Class = "answer"  // Verify returned an error
)

// Classes lists the classes of errors.
func Classes() []Class {
	return []Class{ErrConnect, ErrReset, ErrTimeout, ErrFraming, ErrStatus, ErrAnswer}
}

// Result is the outcome of a phase. Most fields are about its measured part. These are about the complete
// phase: FirstError, Opened, Reconnects, Resent, Resumed, Connect, Handshake and errors of class connect. A
// request is lost by an error of class reset, timeout or framing; any other gets a complete response. So
// Sent is Requests plus these errors, less Unasked.
type Result struct {
	Engine      Engine
	Connections int
	Streams     int           // most requests in flight on each connection; 0 means 1
	Threads     int           // sending threads; portable engine: usable processors
	Wall        time.Duration // measured time
	Sent        int64         // with or without a response
	Requests    int64         // complete responses of any status
	Statuses    map[int]int64
	Codes       map[int]int64 // gRPC: responses by grpc-status; a status above 16 counts as 2 (UNKNOWN)
	Errors      map[Class]int64
	Unasked     int64  // how often the server sent bytes without a request; also counted as errors of class framing
	FirstError  string // the first error in words; "" if there was none
	Resumed     int64  // TLS handshakes that resumed an earlier session; also in Handshake
	Opened      int64  // connections made, reconnects included
	Reconnects  int64  // connections that replaced a broken or closed one
	Resent      int64  // HTTP/2: how often an unprocessed request was sent again

	Latency   *hist.Hist // ns; closed loop: from sending; open loop: from the intended time; a timeout counts as the full wait, at least the timeout
	Service   *hist.Hist // ns from sending, in either loop
	FirstByte *hist.Hist // ns from sending to the first byte of the response
	Connect   *hist.Hist // ns to open a connection, with its TLS handshake
	Handshake *hist.Hist // ns of TLS handshakes
	SendLag   *hist.Hist // open loop: ns from the intended time to sending

	Asked       float64 // open loop: requested rate per second; 0 means a closed loop
	Late        int64   // open loop: intended times whose request was not sent before the end
	Concurrency float64 // mean number of requests in flight
	BytesIn     int64
	BytesOut    int64
	BodyIn      int64
	BodyOut     int64
	CPU         time.Duration // CPU time of the sending threads; of the process if they cannot be separated
	Wait        time.Duration // time that these threads waited for a processor, pauses by a CPU quota included; negative if unknown
	Timeline    []Second      // complete seconds of the measured part
	Steps       []StepResult  // one result per step of a profile of type Step
	Blocks      []Block       // with Leg.Hold: the measured part in equal parts
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

// Tick is a second that has passed, with the result so far.
type Tick struct {
	Second
	// SoFar is the result of the phase up to this second, without the times of connections. In an open
	// loop, Asked and Late are computed from the profile's mean rate.
	SoFar *Result
}
