package tare

// Severity is the effect of a finding on a verdict.
type Severity string

// Severities.
const (
	Note Severity = "note"
	Warn Severity = "warn"
	Void Severity = "void" // the trial or verdict does not count
)

// Finding is the outcome of a check: what was seen and what to do about it.
// An empty Contender, Workload or Metric means all of them.
type Finding struct {
	Check     string   `json:"check"`
	Severity  Severity `json:"severity"`
	Contender string   `json:"contender,omitempty"`
	Workload  string   `json:"workload,omitempty"`
	Metric    string   `json:"metric,omitempty"` // of that metric only; empty means all
	Message   string   `json:"message"`
	Advice    string   `json:"advice,omitempty"`
	Expected  bool     `json:"expected,omitempty"` // a trap's expectation that came true
}

// Covers reports whether the finding speaks of contender on workload, on
// whatever metric.
func (f Finding) Covers(contender, workload string) bool {
	return (f.Contender == "" || f.Contender == contender) && (f.Workload == "" || workload == "" || f.Workload == workload)
}

// Voids returns those of findings that void contender on workload altogether.
// A load generator at its limit voids a throughput and leaves the CPU time per
// request as it is: for findings like that see [VoidsMetric].
func Voids(findings []Finding, contender, workload string) []Finding {
	return VoidsMetric(findings, contender, workload, "")
}

// VoidsMetric returns those of findings that void metric of contender on
// workload: those that void all metrics, and those of that metric only.
func VoidsMetric(findings []Finding, contender, workload, metric string) []Finding {
	var out []Finding
	for _, f := range findings {
		if f.Severity == Void && f.Covers(contender, workload) && (f.Metric == "" || f.Metric == metric) {
			out = append(out, f)
		}
	}
	return out
}

// TrapOutcome is the result of an expectation of a trap.
type TrapOutcome string

// Outcomes. Only a missed one is an error: the evidence sufficed by the check's
// own rule, and the check stayed silent.
const (
	Caught            TrapOutcome = "caught"
	Missed            TrapOutcome = "missed"
	NotEnoughEvidence TrapOutcome = "not-enough-evidence"
)

// Expectation is one check that a trap must be void by, and what became of it.
type Expectation struct {
	Contender    string      `json:"contender"`
	Check        string      `json:"check"`
	Outcome      TrapOutcome `json:"outcome"`
	Message      string      `json:"message"`                 // what the check found, or why it found nothing
	Rounds       int         `json:"rounds"`                  // complete rounds of the contender at the plan's slice length
	RoundsNeeded int         `json:"rounds_needed,omitempty"` // forecast, if more rounds would decide
}

// OutcomeOf returns the result of the trap with that id: the worst of its expectations. It returns
// "" if there are none.
func (r *Result) OutcomeOf(trap string) TrapOutcome {
	worst := TrapOutcome("")
	for _, e := range r.Expectations {
		switch {
		case e.Contender != trap:
		case e.Outcome == Missed:
			return Missed
		case worst != NotEnoughEvidence:
			worst = e.Outcome
		}
	}
	return worst
}
