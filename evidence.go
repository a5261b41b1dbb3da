package tare

// Evidence is everything else a trial recorded. A nil or zero field was not recorded if its comment
// says so; checks that need it are then not applicable.
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
	Go          string  `json:"go,omitempty"`           // as the process reports
	Affinity    string  `json:"affinity,omitempty"`     // processors it may use
	KilledGroup bool    `json:"killed_group,omitempty"` // processes were left and had to be ended
}

// Conformance is the result of a contender's answers before it was timed, or in the samples at the
// start of every round.
type Conformance struct {
	Contender string `json:"contender"`
	Workload  string `json:"workload"`
	Cases     int    `json:"cases"`
	Wrong     int    `json:"wrong"`
	First     string `json:"first,omitempty"`  // the first difference, in one line
	Bytes     int64  `json:"bytes"`            // of all answers
	MinBytes  int64  `json:"min_bytes"`        // smallest answer
	Fresh     bool   `json:"fresh"`            // the operation is declared to hand out a fresh value each time
	During    bool   `json:"during,omitempty"` // repeated in the rounds; otherwise before timing
	Probe     bool   `json:"probe,omitempty"`  // cases that must be rejected as the reference rejects them

	Unrefused []string `json:"unrefused,omitempty"` // of probes: those wrongly accepted, a line each; the first of them if there are many
}

// Sample holds the measurements of one trial on one workload: metric key → value in the key's unit.
// A metric that was not measured is missing.
type Sample map[string]float64

// Trial is one contender in one round: one fresh process.
type Trial struct {
	Round     int               `json:"round"`
	Tau       int               `json:"tau"`
	Contender string            `json:"contender"`
	Seconds   float64           `json:"seconds"`           // from start to exit
	Samples   map[string]Sample `json:"samples"`           // by workload id
	Answers   []Conformance     `json:"answers,omitempty"` // to the sample of cases before each workload

	Histograms map[string]string `json:"histograms,omitempty"` // latencies by workload id, as load/hist writes them
	Evidence   Evidence          `json:"evidence"`
	Error      *TrialError       `json:"error,omitempty"`
	Void       []VoidPart        `json:"void,omitempty"` // of a trial that was carried through: what does not count
}

// VoidPart is a part of a trial that does not count although the trial was completed, because of a
// failure in its round.
type VoidPart struct {
	Workload string `json:"workload,omitempty"` // empty means all of them
	Why      string `json:"why"`                // one line
}

// Counts reports whether what the trial measured on workload counts; an empty
// workload asks for all of them.
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
	Class   string `json:"class"` // start, deadline, exit, protocol, memory, output, contender
	Message string `json:"message"`
}

// Error returns class and message in one line.
func (e *TrialError) Error() string { return e.Class + ": " + e.Message }

// Classes of trial errors.
const (
	ErrStart     = "start"     // the program could not be started
	ErrDeadline  = "deadline"  // no reply in time
	ErrExit      = "exit"      // the process ended
	ErrProtocol  = "protocol"  // what it wrote on the wire is not the protocol
	ErrMemory    = "memory"    // over the memory limit
	ErrOutput    = "output"    // over the output limit
	ErrContender = "contender" // it replied with an error of its own
)
