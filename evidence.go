package tare

// Evidence is everything else a trial recorded. A nil or zero field was not
// recorded where the comment says so; checks that need it are then not
// applicable.
type Evidence struct {
	PID         int     `json:"pid,omitempty"`
	StdoutBytes int64   `json:"stdout_bytes"`
	StderrBytes int64   `json:"stderr_bytes"`
	StderrTail  string  `json:"stderr_tail,omitempty"` // last lines, for error messages
	FirstError  string  `json:"first_error,omitempty"` // that an operation returned inside a slice
	MaxRSSBytes int64   `json:"max_rss_bytes,omitempty"`
	CPUSeconds  float64 `json:"cpu_seconds,omitempty"` // user + system of the process and the children it waited for
	RunQueueNS  int64   `json:"run_queue_wait_ns,omitempty"`
	GOMAXPROCS  int     `json:"gomaxprocs,omitempty"`
	Go          string  `json:"go,omitempty"`           // as the process itself says
	Affinity    string  `json:"affinity,omitempty"`     // processors it may use
	KilledGroup bool    `json:"killed_group,omitempty"` // processes were left and had to be ended
}

// Conformance is how a contender answered before it was timed, or in the
// samples that every round begins with.
type Conformance struct {
	Contender string `json:"contender"`
	Workload  string `json:"workload"`
	Cases     int    `json:"cases"`
	Wrong     int    `json:"wrong"`
	First     string `json:"first,omitempty"`  // the first difference, in one line
	Bytes     int64  `json:"bytes"`            // of all answers
	MinBytes  int64  `json:"min_bytes"`        // smallest answer
	Fresh     bool   `json:"fresh"`            // the operation is declared to hand out a fresh value each time
	During    bool   `json:"during,omitempty"` // asked again in the rounds; otherwise before timing
	Probe     bool   `json:"probe,omitempty"`  // cases that must be refused as the reference refuses them

	Unrefused []string `json:"unrefused,omitempty"` // of probes: those that were not refused so, a line each; the first of them where there are many
}
