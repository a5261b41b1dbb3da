package tare

// Evidence contains the records about the process of a trial, one contender in one round. A field
// that is zero was not recorded. A check that needs it is then not applicable.
type Evidence struct {
	PID         int     `json:"pid,omitempty"`
	StdoutBytes int64   `json:"stdout_bytes"`
	StderrBytes int64   `json:"stderr_bytes"`
	StderrTail  string  `json:"stderr_tail,omitempty"` // last lines, for error messages
	FirstError  string  `json:"first_error,omitempty"` // first error that an operation returned in a slice
	MaxRSSBytes int64   `json:"max_rss_bytes,omitempty"`
	CPUSeconds  float64 `json:"cpu_seconds,omitempty"`       // user and system time of the process and the children that it waited for
	RunQueueNS  int64   `json:"run_queue_wait_ns,omitempty"` // time that its threads waited for a processor
	GOMAXPROCS  int     `json:"gomaxprocs,omitempty"`
	Go          string  `json:"go,omitempty"`           // Go version, as the process reports it
	Affinity    string  `json:"affinity,omitempty"`     // processors that it may use
	KilledGroup bool    `json:"killed_group,omitempty"` // processes of the trial had to be killed
}

// Conformance compares a contender's answers with those of the reference implementation. They were
// requested before timing, or as a sample in a round.
type Conformance struct {
	Contender string `json:"contender"`
	Workload  string `json:"workload"`
	Cases     int    `json:"cases"`
	Wrong     int    `json:"wrong"`
	First     string `json:"first,omitempty"`  // first difference, in one line
	Bytes     int64  `json:"bytes"`            // size of all answers
	MinBytes  int64  `json:"min_bytes"`        // size of the smallest answer
	Fresh     bool   `json:"fresh"`            // the contender declares that each operation returns a new value
	During    bool   `json:"during,omitempty"` // the cases are samples from the rounds; otherwise they were requested before timing
	Probe     bool   `json:"probe,omitempty"`  // the cases are probes: requests that the reference rejects

	Unrefused []string `json:"unrefused,omitempty"` // first probes that were wrongly accepted
}

// Sample contains the measurements of one trial on one workload: values by metric key, in the unit
// of the key. An unmeasured metric is missing.
type Sample map[string]float64

// Trial is one contender in one round: one new process.
type Trial struct {
	Round     int               `json:"round"`
	Tau       int               `json:"tau"` // factor of the slice length; see Round
	Contender string            `json:"contender"`
	Seconds   float64           `json:"seconds"`           // time from start to exit
	Samples   map[string]Sample `json:"samples"`           // key: workload
	Answers   []Conformance     `json:"answers,omitempty"` // comparisons of sampled answers with the reference

	Histograms map[string]string `json:"histograms,omitempty"` // latencies by workload, encoded by load/hist
	Evidence   Evidence          `json:"evidence"`
	Error      *TrialError       `json:"error,omitempty"` // nil if the trial was completed
	Void       []VoidPart        `json:"void,omitempty"`  // parts of a completed trial that do not count
}

// VoidPart is a part of a completed trial that does not count, because of a failure in its round.
type VoidPart struct {
	Workload string `json:"workload,omitempty"` // "" means all workloads
	Why      string `json:"why"`
}

// Counts reports whether the measurements of the trial on workload count. If workload is "", it
// reports whether all of them count.
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
	Class   string `json:"class"` // one of the classes below
	Message string `json:"message"`
}

// Error returns class and message in one line.
func (e *TrialError) Error() string { return e.Class + ": " + e.Message }

// Classes of trial errors.
const (
	ErrStart     = "start"     // the program could not be started
	ErrDeadline  = "deadline"  // no reply in time
	ErrExit      = "exit"      // the process ended by itself
	ErrProtocol  = "protocol"  // the process wrote something that is not the contender protocol
	ErrMemory    = "memory"    // the process exceeded the memory limit
	ErrOutput    = "output"    // the process exceeded the output limit
	ErrContender = "contender" // the process replied with an error
)
