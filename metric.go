package tare

import "strings"

// Direction is the direction in which a metric is better.
type Direction string

// Directions.
const (
	LowerIsBetter  Direction = "lower"
	HigherIsBetter Direction = "higher"
)

// Metric is a measured quantity in a base unit, with the words for it in reports.
type Metric struct {
	Name      string // name in studies, e.g. cpu
	Key       string // key in documents, which contains the unit, e.g. cpu_ns_per_op
	Unit      string // unit in tables
	Direction Direction
	PerSlice  bool    // measured in every slice, a short turn of one contender; otherwise once per trial
	Quantile  float64 // which quantile of the latencies of requests, 1 for the longest; 0 means that it is no latency
	Counted   bool    // counted outside the timed rounds, see [Work]; studies cannot request it
	Closed    bool    // applies only to a closed loop, in which its inverse is the throughput
	Doc       string  // description in one line

	Noun           string // the metric in a sentence: "CPU time"
	Verb, Of       string // "uses" and "the CPU time of": A uses 0.52× the CPU time of B
	Less, More     string // "less CPU time", "more CPU time"
	Faster, Slower string // used for factors from 1.5; "" means never
}

// IsLatency reports whether the metric is a quantile of the latencies of single requests.
func (m Metric) IsLatency() bool { return m.Quantile > 0 }

// KeyReported is the prefix of the keys of metrics that a Go benchmark itself reports. Their unit
// follows the prefix.
const KeyReported = "reported:"

// MetricInstructions is the name of the metric of counted instructions; see [Counter].
const MetricInstructions = "instructions"

// Metrics returns the catalogue of metrics, in the order of tables.
func Metrics() []Metric {
	return []Metric{
		{Name: "time", Key: "time_ns_per_op", Unit: "ns/op", Direction: LowerIsBetter, PerSlice: true, Closed: true, Noun: "time", Verb: "takes", Of: "the time of", Less: "less time", More: "more time", Faster: "faster", Slower: "slower",
			Doc: "wall time of one operation, garbage collection included; of a server under a closed loop, wall time divided by requests answered: the inverse of its throughput"},
		{Name: "cpu", Key: "cpu_ns_per_op", Unit: "ns/op", Direction: LowerIsBetter, PerSlice: true, Noun: "CPU time", Verb: "uses", Of: "the CPU time of", Less: "less CPU time", More: "more CPU time",
			Doc: "CPU time of the whole process per operation, background collection included"},
		{Name: "bytes", Key: "bytes_per_op", Unit: "B/op", Direction: LowerIsBetter, Noun: "allocated bytes", Verb: "allocates", Of: "the bytes of", Less: "less memory", More: "more memory",
			Doc: "heap bytes allocated per operation"},
		{Name: "allocs", Key: "allocs_per_op", Unit: "allocs/op", Direction: LowerIsBetter, Noun: "allocations", Verb: "makes", Of: "the allocations of", Less: "fewer allocations", More: "more allocations",
			Doc: "heap objects allocated per operation"},
		{Name: MetricInstructions, Key: "instructions_per_op", Unit: "instructions/op", Direction: LowerIsBetter, Counted: true, Noun: "work (instructions)", Verb: "does", Of: "the work of", Less: "less work (instructions)", More: "more work (instructions)",
			Doc: "instructions that one operation executes in user space on one processor, the collector off; counted (--counts), not timed"},
		{Name: "size", Key: "size_bytes_per_op", Unit: "B", Direction: LowerIsBetter, Noun: "size of the output", Verb: "writes", Of: "the bytes of", Less: "less output", More: "more output",
			Doc: "bytes of output per operation"},
		latencyMetric("p50", "p50_ns", 0.5, "answers half of the requests within", "median latency", "median latency of a request, from the time it was meant to be sent"),
		latencyMetric("p90", "p90_ns", 0.9, "answers 90 % of the requests within", "p90 latency", "latency that 90 % of requests do not exceed"),
		latencyMetric("p99", "p99_ns", 0.99, "answers 99 % of the requests within", "p99 latency", "latency that 99 % of requests do not exceed"),
		latencyMetric("p99.9", "p99_9_ns", 0.999, "answers 99.9 % of the requests within", "p99.9 latency", "latency that 99.9 % of requests do not exceed"),
		latencyMetric("max", "max_ns", 1, "answers each request within", "longest latency", "longest latency seen"),
		{Name: "client-cpu", Key: KeyClientCPUPerOp, Unit: "ns/op", Direction: LowerIsBetter, Noun: "CPU time of the clients", Verb: "costs its clients", Of: "the CPU time of", Less: "less CPU time of the clients", More: "more CPU time of the clients",
			Doc: "CPU time of the load generator per request: what answering this server costs its clients"},
		{Name: "client-bytes", Key: KeyClientBytes, Unit: "B/op", Direction: LowerIsBetter, Noun: "memory allocated by the client", Verb: "has its client allocate", Of: "the memory of", Less: "less memory allocated by the client", More: "more memory allocated by the client",
			Doc: "heap bytes that the contender's own client allocates per operation"},
		{Name: "client-allocs", Key: KeyClientAllocs, Unit: "allocs/op", Direction: LowerIsBetter, Noun: "allocations of the client", Verb: "has its client make", Of: "the allocations of", Less: "fewer allocations of the client", More: "more allocations of the client",
			Doc: "heap objects that the contender's own client allocates per operation"},
		{Name: "stop", Key: KeyStop, Unit: "ns", Direction: LowerIsBetter, Noun: "time to end", Verb: "ends within", Of: "the time of", Less: "less time to end", More: "more time to end",
			Doc: "time from being told to end until the server has ended, with all its connections open and requests under way on them"},
		{Name: "rss", Key: KeyResident, Unit: "B", Direction: LowerIsBetter, Noun: "peak resident memory", Verb: "holds", Of: "the resident memory of", Less: "less resident memory", More: "more resident memory",
			Doc: "peak resident memory of the process up to the end of the workload"},
	}
}

func latencyMetric(name, key string, quantile float64, verb, noun, doc string) Metric {
	return Metric{
		Name: name, Key: key, Unit: "ns", Direction: LowerIsBetter, Quantile: quantile, Doc: doc,
		Noun: noun, Verb: verb, Of: "the time of", Less: "lower " + noun, More: "higher " + noun,
	}
}

// IsCount reports whether the metric counts heap objects or bytes. If one of two such counts is
// zero, they have no ratio and are compared as numbers.
func (m Metric) IsCount() bool { return m.Unit == "allocs/op" || m.Unit == "B/op" }

// MetricNamed returns the metric with this Name.
func MetricNamed(name string) (Metric, bool) {
	for _, m := range Metrics() {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// MetricFor returns the metric with this Name. If there is none, it returns a metric whose texts
// are made of the name.
func MetricFor(name string) Metric {
	if m, ok := MetricNamed(name); ok {
		return m
	}
	return Metric{Name: name, Noun: name, Verb: "has", Of: "the " + name + " of", Less: "less " + name, More: "more " + name}
}

// MetricNames lists the metrics that studies can request, in one line.
func MetricNames() string {
	var names []string
	for _, m := range Metrics() {
		if !m.Counted {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}
