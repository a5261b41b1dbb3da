package tare

import (
	"fmt"
	"slices"
	"time"
)

// Workload is an operation on an input that is the same, byte for byte, for all contenders. The
// input is a pool of bodies, e.g. JSON documents. The kind is that of the contenders, e.g. codec.
type Workload struct {
	ID      string `json:"id"`
	Fixture string `json:"fixture,omitempty"`    // name of a generated input in contender/fixture
	File    string `json:"file,omitempty"`       // path of the user's own input, relative to the study file; instead of Fixture
	N       int    `json:"n,omitempty"`          // number of items in a body
	Op      string `json:"op"`                   // operation; the kind defines the names
	Pool    int    `json:"pool,omitempty"`       // number of different bodies, used in turn; 0 means the fixture's default, 1 the same body for all operations
	SHA256  string `json:"sha256,omitempty"`     // digest of the pool
	Heap    int64  `json:"heap_bytes,omitempty"` // size of an additional live heap of each contender; 0 means none

	Slice time.Duration `json:"slice_ns,omitempty"` // slice length of the slowest contender, with equally many operations for all; 0 means by the slice rule

	Set     map[string]string `json:"set,omitempty"`     // options of the kind, e.g. depth: "3"
	Traffic *Traffic          `json:"traffic,omitempty"` // how requests reach a server; nil if there is no server

	Contenders []string `json:"contenders,omitempty"` // ids of those that take part, in addition to the baseline; nil means all

	Parts []Part `json:"parts,omitempty"` // operations that Op consists of; nil means only Op itself

	Counts *Counts `json:"counts,omitempty"` // unit of N; nil means see Counted

	// Properties of the pool; 0 if unknown.
	Bytes        int64 `json:"bytes,omitempty"`         // size of all bodies, without line ends
	Keys         int   `json:"keys,omitempty"`          // number of items in each body that should have a separate key
	DistinctKeys int   `json:"distinct_keys,omitempty"` // number of different keys among them, in the body with the fewest
	Members      int   `json:"members,omitempty"`       // numbers, texts and arrays in one item
	Levels       int   `json:"levels,omitempty"`        // levels of nesting in one item; 1 means that nothing is nested
}

// Part is an operation that the operation of a workload consists of.
type Part struct {
	Op    string  `json:"op"`
	Times float64 `json:"times"` // mean number of times that one operation of the workload does it: 0.25 for a quarter of a mix
}

// Counts is the unit of the n of a workload.
type Counts struct {
	One  string `json:"one"`            // a noun: event
	In   string `json:"in,omitempty"`   // what contains n of them, e.g. the store; "" means each body
	Most bool   `json:"most,omitempty"` // n is the maximum: bodies may have fewer
}

// Counted returns the unit of N, by default items. In older results it follows from the fixture.
func (w Workload) Counted() Counts {
	switch {
	case w.Counts != nil:
		return *w.Counts
	case w.Fixture == "ingest":
		return Counts{One: "event", Most: w.Op == "events-uniform"}
	case w.Fixture == "users":
		return Counts{One: "user", In: "the store"}
	case w.Fixture == "homelab":
		return Counts{One: "device", In: "the house"}
	}
	return Counts{One: "item"}
}

// Mixed reports whether each operation of w does only one of its parts. Their shares then add up to
// 1.
func (w Workload) Mixed() bool {
	const rounding = 1e-6
	times := 0.0
	for _, p := range w.Parts {
		times += p.Times
	}
	return len(w.Parts) > 1 && times <= 1+rounding
}

// OpStop is the operation of workloads that measure how servers stop, under load.
const OpStop = "stop"

// MaxHeap is the largest live heap of a workload in bytes. A contender uses twice as much before it
// collects, and a process may use 2 GiB.
const MaxHeap = 800e6

// Asks reports whether contender takes part in the workload. The baseline takes part in every
// workload, but Asks does not know its id.
func (w Workload) Asks(contender string) bool {
	return len(w.Contenders) == 0 || contender == ControlID || contender == NullID || slices.Contains(w.Contenders, contender)
}

// BodyBytes returns the mean size of a body in bytes, or 0 if unknown.
func (w Workload) BodyBytes() float64 {
	if w.Pool <= 0 {
		return 0
	}
	return float64(w.Bytes) / float64(w.Pool)
}

// Validate returns an error about the first field that is missing or invalid.
func (w Workload) Validate() error {
	switch {
	case w.ID == "":
		return fieldError("id", "workload without an id", "e.g. id: devices-50/marshal")
	case w.Fixture == "" && w.File == "":
		return fieldError("", fmt.Sprintf("workload %q has neither fixture nor file", w.ID), "e.g. fixture: devices")
	case w.Fixture != "" && w.File != "":
		return fieldError("", fmt.Sprintf("workload %q has both fixture and file", w.ID), "keep one of them")
	case w.Op == "":
		return fieldError("", fmt.Sprintf("workload %q has no op", w.ID), "e.g. op: marshal")
	case w.N < 0:
		return fieldError("n", "n is negative", "give the number of items in one body")
	case w.Heap < 0 || w.Heap > MaxHeap:
		return fieldError("heap", "heap is not between 0 and 800 MB", "e.g. heap: 200MB")
	case w.Slice < 0:
		return fieldError("slice", "slice is negative", "give how long a slice is, or leave it out")
	case w.Pool < 0:
		return fieldError("pool", "pool is negative", "give the number of different bodies, or leave it out for 64")
	}
	if w.Traffic != nil {
		return w.Traffic.Validate()
	}
	return nil
}

// Measures reports whether metric m applies to the workload. Latencies need a continuous segment,
// and a fixed rate determines the metrics of a closed loop.
func (w Workload) Measures(m Metric) bool {
	hasSegment := w.Traffic != nil && w.Traffic.Segment > 0
	switch {
	case m.Name == "stop":
		return w.Op == OpStop
	case m.IsLatency():
		return hasSegment
	case m.Closed:
		return w.Traffic == nil || w.Traffic.Rate == 0
	}
	return true
}

// Traffic describes how requests reach a server.
type Traffic struct {
	Connections int           `json:"connections"`                         // number of open connections, each with at most one request in flight
	Rate        float64       `json:"rate_per_second,omitempty"`           // open loop: requests sent per second, whatever the responses; 0 means a closed loop, in which each connection waits for its response
	Segment     time.Duration `json:"segment_ns,omitempty"`                // length of a continuous segment of each contender, once per round, for latencies; 0 means short visits
	TLS         bool          `json:"tls,omitempty"`                       // TLS 1.3, with a certificate made for the run
	Delay       time.Duration `json:"delay_ns,omitempty"`                  // delay that a relay adds to every round trip
	Bandwidth   int64         `json:"bandwidth_bits_per_second,omitempty"` // bandwidth of the relay in each direction; 0 means unlimited
}

// MaxConnections is the largest number of connections of a workload. Both ends are on one machine,
// and processes can seldom open more files.
const MaxConnections = 10000

// Validate returns an error about the first field that is out of range.
func (t Traffic) Validate() error {
	switch {
	case t.Connections < 1 || t.Connections > MaxConnections:
		return fieldError("connections", fmt.Sprintf("%d connections", t.Connections), fmt.Sprintf("1 to %d", MaxConnections))
	case t.Rate < 0 || t.Rate > 1e6:
		return fieldError("rate", fmt.Sprintf("%g requests per second", t.Rate), "above 0, at most 1000000; leave it out for a closed loop")
	case t.Rate > 0 && t.Segment == 0:
		return fieldError("rate", "a rate without a segment", "an open loop takes a continuous segment, e.g. segment: 5s")
	case t.Segment != 0 && (t.Segment < time.Second || t.Segment > time.Hour):
		return fieldError("segment", fmt.Sprintf("a segment of %v", t.Segment), "1s to 1h; at least 5s for the latencies of a verdict")
	case t.Delay < 0 || t.Delay > time.Minute:
		return fieldError("delay", fmt.Sprintf("a delay of %v", t.Delay), "0 to 1m")
	case t.Bandwidth < 0:
		return fieldError("bandwidth", "a negative bandwidth", "bits per second, e.g. 70mbit")
	}
	return nil
}

// Keys of samples for servers. A sample has the measurements of one trial on one workload. Most
// values exclude lead-ins, the unmeasured requests before.
const (
	KeyRequests       = "requests"             // number of answered requests
	KeyErrors         = "errors"               // number of errors of any class, including unexpected statuses
	KeyTimeouts       = "timeouts"             // number of timeouts among the errors; each is in the latencies with the length of the timeout
	KeyConnects       = "connections_opened"   // number of opened connections, including lead-ins and reconnects
	KeyConnections    = "connections"          // number of connections as planned
	KeyConcurrency    = "concurrency"          // mean number of requests in flight
	KeyMeanLatency    = "mean_ns"              // mean time from sending a request to the last byte of the response
	KeyRate           = "requests_per_second"  // achieved rate
	KeyRateAsked      = "rate_asked"           // requested rate per second; missing in a closed loop
	KeySendLag        = "send_lag_p99_ns"      // open loop: 99 % of the requests were sent at most this late
	KeySendLagP50     = "send_lag_p50_ns"      // open loop: 50 % of the requests were sent at most this late
	KeyServerCPU      = "server_cpu_ns"        // user and system time of the server
	KeyServerWait     = "server_wait_ns"       // time that threads of the server waited for a processor; missing if unknown
	KeyClientCPU      = "client_cpu_ns"        // CPU time of the load generator, or of the contender's own client
	KeyOwnClient      = "own_client"           // 1 if the contender's own client sent the requests
	KeyClientCPUPerOp = "client_cpu_ns_per_op" // metric client-cpu
	KeyClientBytes    = "client_bytes_per_op"  // metric client-bytes
	KeyClientAllocs   = "client_allocs_per_op" // metric client-allocs
	KeyClientWait     = "client_wait_ns"       // time that threads of the client waited for a processor; missing if unknown
	KeyClientCores    = "client_cores"         // number of processors that the load generator may use
	KeyServerCores    = "server_cores"         // number of processors that the server may use
	KeyWall           = "wall_ns"              // measured wall time
	KeyBytesSent      = "bytes_sent_per_op"    // bytes that the load generator sent, including headers
	KeyBytesReceived  = "bytes_received_per_op"
	KeyBodySent       = "body_sent_per_op"           // size of request bodies
	KeyBodyReceived   = "body_received_per_op"       // size of response bodies
	KeyOutput         = "output_bytes_per_op"        // bytes that the server wrote to stdout, stderr, terminal and log file, with lead-ins
	KeyReceived       = "server_requests"            // requests that the server reports to have answered; missing if it does not count
	KeyReceivedSent   = "server_requests_expected"   // requests that the load generator sent meanwhile
	KeyReceivedBody   = "server_body_bytes"          // bytes of request bodies that the server reports to have read
	KeySentBody       = "server_body_bytes_expected" // bytes of request bodies that the load generator sent meanwhile
	KeyDelivered      = "delivered_items"            // items that arrived at the server's destination; missing if unknown
	KeyDeliveredAsked = "delivered_items_expected"   // items in the correctly answered requests
	KeyStop           = "stop_ns"                    // metric stop
	KeyOps            = "ops"                        // number of timed operations
	KeyResident       = "rss_bytes"                  // metric rss
	KeyLayers         = "layer_calls_per_op"         // middleware calls that the server counted; missing if it does not count
	KeySharedProcess  = "shared_process"             // 1 if server and load generator are one process
)
