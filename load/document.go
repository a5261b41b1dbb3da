package load

import (
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load/hist"
)

// DocumentSchema names the format of a Document. Later versions of the format only add fields.
const DocumentSchema = "tare.load/1"

// Document is the result of the command tare load, as its flag --json prints it.
type Document struct {
	Schema            string           `json:"schema"`
	URL               string           `json:"url"`
	Interrupted       bool             `json:"interrupted,omitempty"` // the phase was stopped before its end
	Engine            string           `json:"engine"`
	Threads           int              `json:"threads"`
	Requests          int64            `json:"requests"` // complete responses of any status
	Sent              int64            `json:"sent"`
	Errors            map[string]int64 `json:"errors"`                  // by class; classes without errors are omitted
	Statuses          map[string]int64 `json:"statuses"`                // by code
	Codes             map[string]int64 `json:"grpc_statuses,omitempty"` // gRPC: by grpc-status
	FirstError        string           `json:"first_error,omitempty"`
	Seconds           float64          `json:"seconds"` // duration of the measured part
	RequestsPerSecond float64          `json:"requests_per_second"`
	RateAsked         float64          `json:"rate_asked"`        // requested rate per second; 0 means a closed loop
	Profile           string           `json:"profile,omitempty"` // the requested rate as text; "" in a closed loop
	Late              int64            `json:"late,omitempty"`    // requests due in the measured part and not sent when it ended

	Latency   Latencies `json:"latency"`
	Service   Latencies `json:"service"`
	Connect   Latencies `json:"connect"`
	FirstByte Latencies `json:"first_byte"`
	TLS       *Secured  `json:"tls,omitempty"` // nil means plain text

	Timeouts          int64   `json:"timeouts"`
	Connections       int     `json:"connections"`
	Streams           int     `json:"streams,omitempty"` // HTTP/2 and HTTP/3: most requests in flight on each connection; 0 means 1
	ConnectionsOpened int64   `json:"connections_opened"`
	Reconnects        int64   `json:"reconnects"`
	Resent            int64   `json:"resent,omitempty"` // requests that the server reported as not processed
	Concurrency       float64 `json:"concurrency"`      // mean number of requests in flight
	BytesIn           int64   `json:"bytes_in"`
	BytesOut          int64   `json:"bytes_out"`
	BodyIn            int64   `json:"body_bytes_in"`
	BodyOut           int64   `json:"body_bytes_out"`
	ClientCPUSeconds  float64 `json:"client_cpu_seconds"`
	ServerCPUSeconds  float64 `json:"server_cpu_seconds,omitempty"` // 0 means unknown
	SendLagP99        int64   `json:"send_lag_p99_ns"`
	Path              Path    `json:"path"`

	Generators []Generated `json:"generators,omitempty"` // load generators, if several machines sent; all other fields are about their sum

	Limit    string   `json:"limit"`
	LimitWhy string   `json:"limit_why"`
	Capacity bool     `json:"capacity"` // throughput and latencies are those of the server
	Findings []Remark `json:"findings"`
	Timeline []Moment `json:"timeline"`

	Drift  []Drift        `json:"drift,omitempty"` // only of a phase of at least DriftLeast
	SLO    []Kept         `json:"slo,omitempty"`
	Steps  []Stepped      `json:"steps,omitempty"` // with a profile of steps
	Search *SearchSummary `json:"search,omitempty"`
}

// Failed returns the number of errors of all classes.
func (d Document) Failed() int64 {
	var n int64
	for _, c := range d.Errors {
		n += c
	}
	return n
}

// Latencies are the statistics of a distribution of times in ns.
type Latencies struct {
	Count int64   `json:"count"`
	Min   int64   `json:"min_ns"`
	Mean  float64 `json:"mean_ns"`
	SD    float64 `json:"sd_ns"`
	P50   int64   `json:"p50_ns"`
	P66   int64   `json:"p66_ns"`
	P75   int64   `json:"p75_ns"`
	P80   int64   `json:"p80_ns"`
	P90   int64   `json:"p90_ns"`
	P95   int64   `json:"p95_ns"`
	P98   int64   `json:"p98_ns"`
	P99   int64   `json:"p99_ns"`
	P999  int64   `json:"p99_9_ns"`
	Max   int64   `json:"max_ns"`
}

// Secured is the cost of TLS.
type Secured struct {
	Handshakes int64     `json:"handshakes"` // number of handshakes, warm-up and reconnects included
	Resumed    int64     `json:"resumed"`    // number of handshakes that resumed an earlier session
	Handshake  Latencies `json:"handshake"`
}

// Path is the network between the load generator and the server, as requested and as observed.
type Path struct {
	RoundTrip int64   `json:"round_trip_ns"`                       // median time to open a connection, or the given round-trip time
	Delay     int64   `json:"delay_ns,omitempty"`                  // added to every round trip by a relay
	Bandwidth int64   `json:"bandwidth_bits_per_second,omitempty"` // of the relay in each direction
	In        float64 `json:"in_bits_per_second"`                  // observed
	Out       float64 `json:"out_bits_per_second"`                 // observed
}

// Moment is a second of a phase.
type Moment struct {
	At        float64 `json:"at_seconds"` // start of the second, since measuring began
	Requests  int64   `json:"requests"`
	Errors    int64   `json:"errors"`
	P50       int64   `json:"p50_ns"`
	P99       int64   `json:"p99_ns"`
	Max       int64   `json:"max_ns,omitempty"`              // 0: no response, or a document of an older version
	ServerCPU float64 `json:"server_cpu_seconds,omitempty"`  // CPU time of the server in this second; 0 means unknown
	Memory    int64   `json:"server_memory_bytes,omitempty"` // memory of the server at the end of this second; 0 means unknown
}

// Remark is a finding about the measurement, with advice.
type Remark struct {
	Check    string        `json:"check"`
	Severity tare.Severity `json:"severity"`
	Message  string        `json:"message"`
	Advice   string        `json:"advice,omitempty"`
}

// Kept is the verdict on an objective: whether the server met it.
type Kept struct {
	Objective string      `json:"objective"`
	Value     float64     `json:"value"` // ns, or for errors their share
	Verdict   tare.Ruling `json:"verdict"`
	Interval  *Interval   `json:"interval,omitempty"` // nil if there is no interval
}

// Interval is the basis of a verdict. For a quantile it is about the share of responses beyond the limit.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"` // at 95 %, like High
	High  float64 `json:"high"`
}

// SearchSummary describes a search for the most requests per second.
type SearchSummary struct {
	Objectives  string      `json:"objectives"`
	Verdict     tare.Ruling `json:"verdict"`
	Sentence    string      `json:"sentence"`
	PerSecond   float64     `json:"requests_per_second"`          // the confirmed rate, or 0
	AtLeast     float64     `json:"at_least_requests_per_second"` // highest rate of a closed-loop step that met the objectives, or 0
	Connections int         `json:"connections"`                  // connections of the step with the rate AtLeast
	Steps       []Stepped   `json:"steps"`
}

// Stepped is one step of a search, or of a profile of steps.
type Stepped struct {
	Connections       int         `json:"connections"`
	At                float64     `json:"at_seconds,omitempty"` // profile of steps: start of the step, since measuring began
	RateAsked         float64     `json:"rate_asked,omitempty"` // 0 means a closed loop
	RequestsPerSecond float64     `json:"requests_per_second"`
	P50               int64       `json:"p50_ns"`
	P99               int64       `json:"p99_ns"`
	ErrorShare        float64     `json:"error_share"`
	ClientCPUSeconds  float64     `json:"client_cpu_seconds,omitempty"` // only in a search
	Limit             string      `json:"limit"`
	Verdict           tare.Ruling `json:"verdict,omitempty"` // "" if there are no objectives
	Why               string      `json:"why,omitempty"`
	Objectives        []Kept      `json:"objectives"`
}

// Documented has the fields of a document that the result does not have.
type Documented struct {
	URL         string
	Interrupted bool
	Facts       Facts
	Delay       time.Duration   // delay of a relay in front of the server
	Profile     Profile         // nil means a closed loop
	ServerCPU   []time.Duration // CPU time of the server in each second; nil if unknown
	Memory      []int64         // memory of the server in bytes, in each second; nil if unknown
	SLO         SLO
	Search      *Search
	Generators  []Generator // nil if only this machine sent requests
}

// NewDocument assesses r and returns the document.
func NewDocument(r *Result, o Documented) Document {
	a, generators := assessAll(r, o)
	d := Document{
		Schema: DocumentSchema, URL: o.URL, Interrupted: o.Interrupted, Engine: string(r.Engine), Threads: r.Threads,
		Requests: r.Requests, Sent: r.Sent, Errors: map[string]int64{}, Statuses: map[string]int64{}, FirstError: r.FirstError,
		Seconds: r.Wall.Seconds(), RequestsPerSecond: responseRate(r), RateAsked: r.Asked, Late: r.Late,
		Latency: newLatencies(r.Latency), Service: newLatencies(r.Service), Connect: newLatencies(r.Connect), FirstByte: newLatencies(r.FirstByte),
		Timeouts: r.Errors[ErrTimeout], Connections: r.Connections, ConnectionsOpened: r.Opened, Reconnects: r.Reconnects, Resent: r.Resent, Concurrency: r.Concurrency,
		BytesIn: r.BytesIn, BytesOut: r.BytesOut, BodyIn: r.BodyIn, BodyOut: r.BodyOut,
		ClientCPUSeconds: r.CPU.Seconds(), ServerCPUSeconds: o.Facts.ServerCPU.Seconds(), SendLagP99: newLatencies(r.SendLag).P99,
		Path:  newPath(r, o),
		Limit: string(a.Limit), LimitWhy: a.Why, Capacity: a.Capacity, Findings: []Remark{}, Timeline: []Moment{}, Generators: generators,
	}
	if r.Streams > 1 {
		d.Streams = r.Streams
	}
	if h := newLatencies(r.Handshake); h.Count > 0 {
		d.TLS = &Secured{Handshakes: h.Count, Resumed: r.Resumed, Handshake: h}
	}
	for _, f := range a.Findings {
		d.Findings = append(d.Findings, Remark{f.Check, f.Severity, f.Message, f.Advice})
	}
	if o.Profile != nil {
		d.Profile = o.Profile.String()
	}
	for class, n := range r.Errors {
		if n > 0 {
			d.Errors[string(class)] = n
		}
	}
	for status, n := range r.Statuses {
		d.Statuses[strconv.Itoa(status)] = n
	}
	for code, n := range r.Codes {
		if d.Codes == nil {
			d.Codes = map[string]int64{}
		}
		d.Codes[strconv.Itoa(code)] = n
	}
	for i, s := range r.Timeline {
		m := Moment{At: s.At.Seconds(), Requests: s.Requests, Errors: s.Errors, P50: int64(s.P50), P99: int64(s.P99), Max: int64(s.Max)}
		if i < len(o.ServerCPU) {
			m.ServerCPU = o.ServerCPU[i].Seconds()
		}
		if i < len(o.Memory) {
			m.Memory = o.Memory[i]
		}
		d.Timeline = append(d.Timeline, m)
	}
	d.Drift = listDrifts(r.Timeline, o.Memory, o.Profile)
	d.Steps = newStepped(r, o.SLO, a)
	if len(o.SLO) > 0 {
		d.SLO = newKept(o.SLO.Hold(r), a)
	}
	if o.Search != nil {
		d.Search = newSearchSummary(o.Search)
	}
	return d
}

func newLatencies(h *hist.Hist) Latencies {
	if h == nil {
		return Latencies{}
	}
	q := h.Quantile
	return Latencies{
		Count: h.Count(), Min: h.Min(), Mean: h.Mean(), SD: h.SD(), Max: h.Max(),
		P50: q(0.5), P66: q(0.66), P75: q(0.75), P80: q(0.8), P90: q(0.9), P95: q(0.95), P98: q(0.98), P99: q(0.99), P999: q(0.999),
	}
}

// newPath returns the path of a phase. The round-trip time defaults to the median time of a connect.
func newPath(r *Result, o Documented) Path {
	p := Path{RoundTrip: int64(o.Facts.RoundTrip), Delay: int64(o.Delay), Bandwidth: o.Facts.Bandwidth}
	if p.RoundTrip == 0 {
		p.RoundTrip = newLatencies(r.Connect).P50
	}
	if r.Wall > 0 {
		p.In, p.Out = 8*float64(r.BytesIn)/r.Wall.Seconds(), 8*float64(r.BytesOut)/r.Wall.Seconds()
	}
	return p
}

// newKept returns the verdicts on objectives. A verdict on a latency is void if the load generator
// determined the latencies.
func newKept(outcomes []Outcome, a Assessment) []Kept {
	out := []Kept{}
	for _, o := range outcomes {
		k := Kept{Objective: o.Objective.String(), Value: o.Value, Verdict: tare.NotMet}
		switch {
		case !a.Capacity && !o.Objective.Errors:
			k.Verdict = tare.VoidRuling
		case o.Thin, o.Undecided:
			k.Verdict = tare.Inconclusive
		case o.Met:
			k.Verdict = tare.Met
		}
		if o.Seen {
			k.Interval = &Interval{o.Share, o.Low, o.High}
		}
		out = append(out, k)
	}
	return out
}

func newSearchSummary(s *Search) *SearchSummary {
	out := &SearchSummary{
		Objectives: s.SLO.String(), Verdict: s.Ruling, Sentence: s.Sentence,
		PerSecond: s.PerSecond, AtLeast: s.AtLeast, Connections: s.Connections, Steps: []Stepped{},
	}
	for _, step := range s.Steps {
		r := step.Result
		out.Steps = append(out.Steps, Stepped{
			Connections: step.Trial.Connections, RateAsked: step.Trial.Rate, RequestsPerSecond: step.PerSecond(),
			P50: r.Latency.Quantile(0.5), P99: r.Latency.Quantile(0.99), ErrorShare: errorShare(r), ClientCPUSeconds: r.CPU.Seconds(),
			Limit: string(step.Assessment.Limit), Verdict: step.Ruling, Why: step.Why, Objectives: newKept(step.Outcomes, step.Assessment),
		})
	}
	return out
}
