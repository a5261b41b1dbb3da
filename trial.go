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
