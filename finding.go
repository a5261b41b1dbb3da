package tare

// Severity is the effect of a finding on a verdict.
type Severity string

// Severities.
const (
	Note Severity = "note"
	Warn Severity = "warn"
	Void Severity = "void" // the measurements or the verdict do not count
)

// Finding is a problem that a check found, with advice. If Contender, Workload or Metric is "", it
// is about all of them.
type Finding struct {
	Check     string   `json:"check"`
	Severity  Severity `json:"severity"`
	Contender string   `json:"contender,omitempty"`
	Workload  string   `json:"workload,omitempty"`
	Metric    string   `json:"metric,omitempty"`
	Message   string   `json:"message"`
	Advice    string   `json:"advice,omitempty"`
	Expected  bool     `json:"expected,omitempty"` // the contender is a trap, which this check must find
}

// Covers reports whether the finding is about contender on workload. "" means any workload.
func (f Finding) Covers(contender, workload string) bool {
	coversContender := f.Contender == "" || f.Contender == contender
	coversWorkload := f.Workload == "" || workload == "" || f.Workload == workload
	return coversContender && coversWorkload
}

// Voids returns the findings that void all metrics of contender on workload. See [VoidsMetric] for
// one.
func Voids(findings []Finding, contender, workload string) []Finding {
	return VoidsMetric(findings, contender, workload, "")
}

// VoidsMetric also returns findings about metric only. For example, a busy load generator voids
// throughput, but not CPU time.
func VoidsMetric(findings []Finding, contender, workload, metric string) []Finding {
	var out []Finding
	for _, f := range findings {
		if f.Severity == Void && f.Covers(contender, workload) && (f.Metric == "" || f.Metric == metric) {
			out = append(out, f)
		}
	}
	return out
}

// TrapOutcome is the outcome of a check on a trap, a contender that reproduces a published mistake
// on purpose.
type TrapOutcome string

// Only Missed is an error: the check had enough evidence.
const (
	Caught            TrapOutcome = "caught"
	Missed            TrapOutcome = "missed"
	NotEnoughEvidence TrapOutcome = "not-enough-evidence"
)

// Expectation is the result of one check that must void a trap.
type Expectation struct {
	Contender    string      `json:"contender"`
	Check        string      `json:"check"`
	Outcome      TrapOutcome `json:"outcome"`
	Message      string      `json:"message"`                 // what the check found
	Rounds       int         `json:"rounds"`                  // complete, of the usual slice length
	RoundsNeeded int         `json:"rounds_needed,omitempty"` // expected to be enough; 0 if more do not help
}

// OutcomeOf returns the worst outcome of a trap: missed, then not enough evidence, then caught.
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
