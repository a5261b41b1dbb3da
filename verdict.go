package tare

// Ruling is a criterion held against an interval.
type Ruling string

// Rulings.
const (
	Met          Ruling = "met"
	NotMet       Ruling = "not met"
	Inconclusive Ruling = "inconclusive"
	VoidRuling   Ruling = "void"
)

// Verdict is a ruling with the sentence that says it. A verdict without a
// criterion states the difference that was found.
type Verdict struct {
	Contender    string `json:"contender"`
	Workload     string `json:"workload"`
	Metric       string `json:"metric"`
	Criterion    string `json:"criterion,omitempty"`
	Verdict      Ruling `json:"verdict,omitempty"` // empty where there is no criterion
	Sentence     string `json:"sentence"`
	RoundsNeeded int    `json:"rounds_needed,omitempty"` // forecast, where inconclusive
}
