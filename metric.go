package tare

import "strings"

// Direction says which way a metric is better.
type Direction string

// Directions.
const (
	LowerIsBetter  Direction = "lower"
	HigherIsBetter Direction = "higher"
)

// Metric is a named quantity in a base unit.
type Metric struct {
	Name      string    // as studies write it
	Key       string    // as documents write it; the unit is in the key
	Unit      string    // as tables write it
	Direction Direction // which way is better
	PerSlice  bool      // measured in every slice, so comparisons are paired slice by slice
	Latency   bool      // of single requests, in a continuous segment
	Doc       string    // one line
}

// KeyReported is what the sample keys of metrics begin with that a benchmark
// reports by itself; their unit follows.
const KeyReported = "reported:"

// Metrics is the catalogue, in the order tables use.
func Metrics() []Metric {
	return []Metric{
		{"time", "time_ns_per_op", "ns/op", LowerIsBetter, true, false, "wall time of one operation, garbage collection included; of a server under a closed loop, wall time divided by requests answered: the inverse of its throughput"},
		{"cpu", "cpu_ns_per_op", "ns/op", LowerIsBetter, true, false, "CPU time of the whole process per operation, background collection included"},
		{"bytes", "bytes_per_op", "B/op", LowerIsBetter, false, false, "heap bytes allocated per operation"},
		{"allocs", "allocs_per_op", "allocs/op", LowerIsBetter, false, false, "heap objects allocated per operation"},
		{"size", "size_bytes_per_op", "B", LowerIsBetter, false, false, "bytes of output per operation"},
		{"p50", "p50_ns", "ns", LowerIsBetter, false, true, "median latency of a request, from the time it was meant to be sent"},
		{"p90", "p90_ns", "ns", LowerIsBetter, false, true, "latency that 90 % of requests do not exceed"},
		{"p99", "p99_ns", "ns", LowerIsBetter, false, true, "latency that 99 % of requests do not exceed"},
		{"p99.9", "p99_9_ns", "ns", LowerIsBetter, false, true, "latency that 99.9 % of requests do not exceed"},
		{"max", "max_ns", "ns", LowerIsBetter, false, true, "longest latency seen"},
		{"client-cpu", KeyClientCPUPerOp, "ns/op", LowerIsBetter, false, false, "CPU time of the load generator per request: what answering this server costs its clients"},
		{"client-bytes", KeyClientBytes, "B/op", LowerIsBetter, false, false, "heap bytes that the contender's own client allocates per operation"},
		{"client-allocs", KeyClientAllocs, "allocs/op", LowerIsBetter, false, false, "heap objects that the contender's own client allocates per operation"},
		{"stop", KeyStop, "ns", LowerIsBetter, false, false, "time from being told to end until the server has ended, with all its connections open and requests under way on them"},
		{"rss", "rss_bytes", "B", LowerIsBetter, false, false, "peak resident memory of the process up to the end of the workload"},
	}
}

// MetricNamed finds a metric by the name studies use.
func MetricNamed(name string) (Metric, bool) {
	for _, m := range Metrics() {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// MetricNames lists the catalogue in one line.
func MetricNames() string {
	var names []string
	for _, m := range Metrics() {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}
