package tare

// TrapOutcome is what became of an expectation of a trap.
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
	Rounds       int         `json:"rounds"`                  // whole rounds of the contender at the plan's slice length
	RoundsNeeded int         `json:"rounds_needed,omitempty"` // forecast, where more rounds would decide
}

// OutcomeOf is what became of the trap with that id: the worst of its
// expectations. It is empty where there are none.
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
