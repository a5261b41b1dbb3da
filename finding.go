package tare

// Severity is what a finding does to a verdict.
type Severity string

// Severities.
const (
	Note Severity = "note"
	Warn Severity = "warn"
	Void Severity = "void" // the trial or verdict does not count
)

// Finding is the outcome of a check: what was seen and what to do about it.
// An empty Contender or Workload means all of them.
type Finding struct {
	Check     string   `json:"check"`
	Severity  Severity `json:"severity"`
	Contender string   `json:"contender,omitempty"`
	Workload  string   `json:"workload,omitempty"`
	Message   string   `json:"message"`
	Advice    string   `json:"advice,omitempty"`
	Expected  bool     `json:"expected,omitempty"` // a trap's expectation that came true
}

// Covers reports whether the finding speaks of contender on workload.
func (f Finding) Covers(contender, workload string) bool {
	return (f.Contender == "" || f.Contender == contender) && (f.Workload == "" || workload == "" || f.Workload == workload)
}
