package tare

// Evidence contains the records about the process of a trial, one contender in one round. A field
// that is zero was not recorded.
type Evidence struct {
	PID         int     `json:"pid,omitempty"`
	StdoutBytes int64   `json:"stdout_bytes"`
	StderrBytes int64   `json:"stderr_bytes"`
	StderrTail  string  `json:"stderr_tail,omitempty"` // last lines, for error messages
	FirstError  string  `json:"first_error,omitempty"` // error of an operation in a slice
	MaxRSSBytes int64   `json:"max_rss_bytes,omitempty"`
	CPUSeconds  float64 `json:"cpu_seconds,omitempty"`       // user and system time, with children
	RunQueueNS  int64   `json:"run_queue_wait_ns,omitempty"` // time of waiting for a processor
	GOMAXPROCS  int     `json:"gomaxprocs,omitempty"`
	Go          string  `json:"go,omitempty"`           // as reported
	Affinity    string  `json:"affinity,omitempty"`     // processors
	KilledGroup bool    `json:"killed_group,omitempty"` // processes had to be killed
}

// Conformance compares a contender's answers with those of the reference implementation. They were
// requested before timing, or as a sample in a round.
type Conformance struct {
	Contender string `json:"contender"`
	Workload  string `json:"workload"`
	Cases     int    `json:"cases"`
	Wrong     int    `json:"wrong"`
	First     string `json:"first,omitempty"`  // difference, in one line
	Bytes     int64  `json:"bytes"`            // size of all answers
	MinBytes  int64  `json:"min_bytes"`        // size of the smallest answer
	Fresh     bool   `json:"fresh"`            // operations return new values, by declaration
	During    bool   `json:"during,omitempty"` // samples from the rounds; otherwise before timing
	Probe     bool   `json:"probe,omitempty"`  // requests that the reference rejects

	Unrefused []string `json:"unrefused,omitempty"` // first accepted probes
}

// Sample contains the measurements of one trial on one workload, by key. An unmeasured metric is
// missing.
type Sample map[string]float64

// Trial is one contender in one round: one new process.
type Trial struct {
	Round     int               `json:"round"`
	Tau       int               `json:"tau"` // see Round
	Contender string            `json:"contender"`
	Seconds   float64           `json:"seconds"`           // time from start to exit
	Samples   map[string]Sample `json:"samples"`           // key: workload
	Answers   []Conformance     `json:"answers,omitempty"` // sampled

	Histograms map[string]string `json:"histograms,omitempty"` // key: workload; encoded by load/hist
	Evidence   Evidence          `json:"evidence"`
	Error      *TrialError       `json:"error,omitempty"` // nil if the trial was completed
	Void       []VoidPart        `json:"void,omitempty"`  // parts that do not count
}

// VoidPart is a part of a completed trial that does not count, because of a failure in its round.
type VoidPart struct {
	Workload string `json:"workload,omitempty"` // "" means all workloads
	Why      string `json:"why"`
}

// Counts reports whether the measurements of the trial on workload count. "" means all of them.
func (t Trial) Counts(workload string) bool {
	if t.Error != nil {
		return false
	}
	for _, v := range t.Void {
		if workload == "" || v.Workload == "" || v.Workload == workload {
			return false
		}
	}
	return true
}

// TrialError is the reason why a trial failed.
type TrialError struct {
	Class   string `json:"class"`
	Message string `json:"message"`
}

// Error returns class and message in one line.
func (e *TrialError) Error() string { return e.Class + ": " + e.Message }

// Classes of trial errors.
const (
	ErrStart     = "start"     // not started
	ErrDeadline  = "deadline"  // no reply in time
	ErrExit      = "exit"      // ended early
	ErrProtocol  = "protocol"  // output that is not the contender protocol
	ErrMemory    = "memory"    // memory limit exceeded
	ErrOutput    = "output"    // output limit exceeded
	ErrContender = "contender" // replied with an error
)
