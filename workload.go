package tare

import (
	"fmt"
	"slices"
	"time"
)

// Workload is the work of every contender, byte-identical.
type Workload struct {
	ID      string `json:"id"`
	Fixture string `json:"fixture,omitempty"`    // generated input: name in contender/fixture
	File    string `json:"file,omitempty"`       // or the user's own input, relative to the study file
	N       int    `json:"n,omitempty"`          // items per body
	Op      string `json:"op"`                   // what is done with it; the kind knows the words
	Pool    int    `json:"pool,omitempty"`       // different bodies in rotation; zero means the fixture's default, one is seed mode
	SHA256  string `json:"sha256,omitempty"`     // of the pool
	Heap    int64  `json:"heap_bytes,omitempty"` // live heap of each contender meanwhile, in bytes; 0 means only its own

	Slice time.Duration `json:"slice_ns,omitempty"` // slice length of the slowest one, with the same number of operations for all; zero means by the slice rule

	Set     map[string]string `json:"set,omitempty"`     // what else the kind lets a workload choose, e.g. depth: "3"; the kind knows the words
	Traffic *Traffic          `json:"traffic,omitempty"` // how requests reach a server; nil if there is no server

	Contenders []string `json:"contenders,omitempty"` // the only ones that take part, in addition to the baseline; none: all

	Parts []Part `json:"parts,omitempty"` // operations that op consists of, by its kind; none: only op itself

	Counts *Counts `json:"counts,omitempty"` // the unit of n, by its kind; nil means see Counted

	// Properties of the pool by its kind; 0 if unknown.
	Bytes        int64 `json:"bytes,omitempty"`         // of all bodies, line ends not included
	Keys         int   `json:"keys,omitempty"`          // items with a key of their own that each body should have
	DistinctKeys int   `json:"distinct_keys,omitempty"` // different keys among them, in the body with the least
	Members      int   `json:"members,omitempty"`       // numbers, texts and arrays in one item, those of what is nested in it included
	Levels       int   `json:"levels,omitempty"`        // of nesting in one item; 1: nothing is nested in it
}

// Part is an operation that another one does.
type Part struct {
	Op    string  `json:"op"`
	Times float64 `json:"times"` // how often one operation of the workload does it, on average: 0.25 for a quarter of a mix, 1 if each does
}

// Counts names the unit that the n of a workload counts.
type Counts struct {
	One  string `json:"one"`            // one of them: event
	In   string `json:"in,omitempty"`   // what contains them, e.g. the store; "": each body
	Most bool   `json:"most,omitempty"` // n is the most there are, and not in each body as many
}

// Counted returns the unit of n: items by default. Results made before kinds stated it have the
// names of their time.
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

// Mixed reports whether an operation of w does one of its parts at a time.
func (w Workload) Mixed() bool {
	const rounding = 1e-6
	times := 0.0
	for _, p := range w.Parts {
		times += p.Times
	}
	return len(w.Parts) > 1 && times <= 1+rounding
}

// OpStop is the operation of servers that end at the end of each trial, under load.
const OpStop = "stop"

// MaxHeap is the largest live heap of a workload in bytes: a contender uses twice as much until it
// collects, and may not use more than 2 GiB.
const MaxHeap = 800e6

// Asks reports whether contender takes part in the workload. The baseline, the control and the null
// contender take part in all.
func (w Workload) Asks(contender string) bool {
	return len(w.Contenders) == 0 || contender == ControlID || contender == NullID || slices.Contains(w.Contenders, contender)
}

// BodyBytes returns the mean length of a body, or 0 if unknown.
func (w Workload) BodyBytes() float64 {
	if w.Pool <= 0 {
		return 0
	}
	return float64(w.Bytes) / float64(w.Pool)
}

// Validate reports what is missing.
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

// Measures reports whether metric m applies to the workload: at a fixed rate, time per operation is
// that rate's, and latencies are those of a continuous segment.
func (w Workload) Measures(m Metric) bool {
	segment := w.Traffic != nil && w.Traffic.Segment > 0
	switch {
	case m.Name == "stop":
		return w.Op == OpStop
	case m.IsLatency():
		return segment
	case m.Closed:
		return w.Traffic == nil || w.Traffic.Rate == 0
	}
	return true
}

// Traffic describes how requests reach a server.
type Traffic struct {
	Connections int           `json:"connections"`                         // kept open, each with at most one request in flight
	Rate        float64       `json:"rate_per_second,omitempty"`           // open loop: requests sent a second, independent of responses; 0 means a closed loop, in which each connection sends its next request after a response
	Segment     time.Duration `json:"segment_ns,omitempty"`                // length of a segment of each contender by itself, once a round, for latencies; 0 means visits in lockstep, for throughput and CPU time
	TLS         bool          `json:"tls,omitempty"`                       // TLS 1.3 with a certificate made for the run
	Delay       time.Duration `json:"delay_ns,omitempty"`                  // added to every round trip by a relay
	Bandwidth   int64         `json:"bandwidth_bits_per_second,omitempty"` // of the relay, each way; 0 means unlimited
}

// MaxConnections is the most connections a workload can ask for: both ends
// are on one machine, and a process seldom may open more files.
const MaxConnections = 10000

// Validate reports what cannot be carried out.
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

// Keys of samples that kinds with traffic set in addition to those of the metrics. All are of one
// trial on one workload, including the unmeasured lead-ins only if a key says so.
const (
	KeyRequests       = "requests"             // answered, measured ones
	KeyErrors         = "errors"               // of any class, including unexpected statuses
	KeyTimeouts       = "timeouts"             // among the errors; each entered the latencies at the timeout
	KeyConnects       = "connections_opened"   // lead-ins and reconnects included
	KeyConnections    = "connections"          // as planned
	KeyConcurrency    = "concurrency"          // mean number of requests in flight
	KeyMeanLatency    = "mean_ns"              // from sending to the last byte of the answer
	KeyRate           = "requests_per_second"  // achieved
	KeyRateAsked      = "rate_asked"           // per second; absent in a closed loop
	KeySendLag        = "send_lag_p99_ns"      // how late requests were sent, against their intended times; open loop
	KeySendLagP50     = "send_lag_p50_ns"      // the same, of half of the requests
	KeyServerCPU      = "server_cpu_ns"        // user and system, while measured
	KeyServerWait     = "server_wait_ns"       // it was ready to run and did not, while measured; missing if the system does not report it
	KeyClientCPU      = "client_cpu_ns"        // of the load generator's own threads, or of the contender's own client, while measured
	KeyOwnClient      = "own_client"           // 1: the contender's own client sent the requests, not the load generator
	KeyClientCPUPerOp = "client_cpu_ns_per_op" // metric client-cpu
	KeyClientBytes    = "client_bytes_per_op"  // metric client-bytes
	KeyClientAllocs   = "client_allocs_per_op" // metric client-allocs
	KeyClientWait     = "client_wait_ns"       // its threads were ready to run and did not, while measured; missing if the system does not report it
	KeyClientCores    = "client_cores"         // the load generator may use
	KeyServerCores    = "server_cores"         // the server may use
	KeyWall           = "wall_ns"              // measured time
	KeyBytesSent      = "bytes_sent_per_op"    // by the load generator, headers included
	KeyBytesReceived  = "bytes_received_per_op"
	KeyBodySent       = "body_sent_per_op"           // of request bodies
	KeyBodyReceived   = "body_received_per_op"       // of response bodies
	KeyOutput         = "output_bytes_per_op"        // the server wrote to stdout, stderr, its terminal and its log file, lead-ins included in both
	KeyReceived       = "server_requests"            // answered since the workload was prepared, as reported by the server; missing if it does not count
	KeyReceivedSent   = "server_requests_expected"   // the load generator sent since then
	KeyReceivedBody   = "server_body_bytes"          // of request bodies read since then, as reported by the server
	KeySentBody       = "server_body_bytes_expected" // the load generator sent since then
	KeyDelivered      = "delivered_items"            // events that arrived at the server's destination since the workload was prepared; missing if unknown
	KeyDeliveredAsked = "delivered_items_expected"   // events in the requests that were answered as they should be, since then
	KeyStop           = "stop_ns"                    // metric stop
	KeyOps            = "ops"                        // operations that were timed
	KeyResident       = "rss_bytes"                  // metric rss
	KeyLayers         = "layer_calls_per_op"         // middleware calls the server counted; missing if it does not count
	KeySharedProcess  = "shared_process"             // 1: server and load generator are one process
)
