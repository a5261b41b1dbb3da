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

// Covers reports whether the finding is about contender on workload, by any metric. If workload is
// "", any workload counts.
func (f Finding) Covers(contender, workload string) bool {
	coversContender := f.Contender == "" || f.Contender == contender
	coversWorkload := f.Workload == "" || workload == "" || f.Workload == workload
	return coversContender && coversWorkload
}

// Voids returns the findings that void all metrics of contender on workload.
func Voids(findings []Finding, contender, workload string) []Finding {
	return VoidsMetric(findings, contender, workload, "")
}

// VoidsMetric returns the findings that void metric of contender on workload: those about all
// metrics and those about metric only. For example, a busy load generator voids the throughput of a
// server, but not its CPU time per request.
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

// Outcomes. Only Missed is an error: the check found nothing although it had enough evidence.
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
	Message      string      `json:"message"`                 // what the check found, or why it found nothing
	Rounds       int         `json:"rounds"`                  // complete rounds of the contender, without those of longer slices
	RoundsNeeded int         `json:"rounds_needed,omitempty"` // number of rounds that is expected to be enough; 0 if more do not help
}

// OutcomeOf returns the worst outcome of the expectations of a trap: missed, then not enough
// evidence, then caught. It returns "" if the trap has none.
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
