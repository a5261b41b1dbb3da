package tare

// Sample is what one trial measured on one workload: metric key → value in
// the key's unit. A metric that was not measured is absent.
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

// VoidPart is what of a trial does not count although it was carried through,
// because something failed in its round.
type VoidPart struct {
	Workload string `json:"workload,omitempty"` // empty: all of them
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

// TrialError is why a trial could not be carried through.
type TrialError struct {
	Class   string `json:"class"` // start, deadline, exit, protocol, memory, output, contender
	Message string `json:"message"`
}

// Error is class and message in one line.
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
