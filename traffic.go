package tare

import (
	"fmt"
	"time"
)

// Traffic is how requests reach a server.
type Traffic struct {
	Connections int           `json:"connections"`                         // kept open, each with one request under way at most
	Rate        float64       `json:"rate_per_second,omitempty"`           // open loop: requests sent a second, whatever comes back; zero: closed loop, each connection sends its next request when it has an answer
	Segment     time.Duration `json:"segment_ns,omitempty"`                // each contender alone for so long, once a round, for latencies; zero: visits in lockstep, for throughput and CPU time
	TLS         bool          `json:"tls,omitempty"`                       // TLS 1.3 with a certificate made for the run
	Delay       time.Duration `json:"delay_ns,omitempty"`                  // added to every round trip by a relay
	Bandwidth   int64         `json:"bandwidth_bits_per_second,omitempty"` // of the relay, each way; zero: as it comes
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

// Keys of samples that kinds with traffic fill in beside those of the metrics.
// All are of one trial on one workload, the unmeasured lead-ins included only
// where a key says so.
const (
	KeyRequests       = "requests"             // answered, measured ones
	KeyErrors         = "errors"               // of any class, statuses that were not asked for included
	KeyTimeouts       = "timeouts"             // among the errors; each entered the latencies at the timeout
	KeyConnects       = "connections_opened"   // lead-ins and reconnects included
	KeyConnections    = "connections"          // as planned
	KeyConcurrency    = "concurrency"          // mean number of requests under way
	KeyMeanLatency    = "mean_ns"              // from sending to the last byte of the answer
	KeyRate           = "requests_per_second"  // achieved
	KeyRateAsked      = "rate_asked"           // per second; absent in a closed loop
	KeySendLag        = "send_lag_p99_ns"      // how late requests were sent, against their intended times; open loop
	KeyServerCPU      = "server_cpu_ns"        // user and system, while measured
	KeyServerWait     = "server_wait_ns"       // it was ready to run and did not, while measured; absent where the system does not tell
	KeyClientCPU      = "client_cpu_ns"        // of the load generator's own threads, or of the contender's own client, while measured
	KeyOwnClient      = "own_client"           // 1: the contender's own client asked, not the load generator
	KeyClientCPUPerOp = "client_cpu_ns_per_op" // metric client-cpu
	KeyClientBytes    = "client_bytes_per_op"  // metric client-bytes
	KeyClientAllocs   = "client_allocs_per_op" // metric client-allocs
	KeyClientWait     = "client_wait_ns"       // its threads were ready to run and did not, while measured; absent where the system does not tell
	KeyClientCores    = "client_cores"         // the load generator may use
	KeyServerCores    = "server_cores"         // the server may use
	KeyWall           = "wall_ns"              // measured time
	KeyBytesSent      = "bytes_sent_per_op"    // by the load generator, headers included
	KeyBytesReceived  = "bytes_received_per_op"
	KeyBodySent       = "body_sent_per_op"           // of request bodies
	KeyBodyReceived   = "body_received_per_op"       // of response bodies
	KeyOutput         = "output_bytes_per_op"        // the server wrote to stdout, stderr, its terminal and its log file, lead-ins included in both
	KeyReceived       = "server_requests"            // the server says it answered since the workload was prepared; absent where it cannot tell
	KeyReceivedSent   = "server_requests_expected"   // the load generator sent since then
	KeyReceivedBody   = "server_body_bytes"          // of request bodies the server says it read since then
	KeySentBody       = "server_body_bytes_expected" // the load generator sent since then
	KeyDelivered      = "delivered_items"            // events that arrived where the server takes them, since the workload was prepared; absent where nobody can tell
	KeyDeliveredAsked = "delivered_items_expected"   // events in the requests that were answered as they should be, since then
	KeyStop           = "stop_ns"                    // metric stop
	KeyLayers         = "layer_calls_per_op"         // middleware calls the server counted; absent where it does not count
	KeySharedProcess  = "shared_process"             // 1: server and load generator are one process
)
