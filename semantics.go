package tare

import "slices"

// DifferenceClass is the gravity of a semantic difference.
type DifferenceClass string

// Classes, the gravest first.
const (
	DiffersInValue      DifferenceClass = "value"      // another value
	DiffersInAcceptance DifferenceClass = "acceptance" // input that the reference rejects is accepted, or the reverse
	DiffersInForm       DifferenceClass = "form"       // the same value, spelled differently
)

// DifferenceClasses lists the classes, the gravest first.
func DifferenceClasses() []DifferenceClass {
	return []DifferenceClass{DiffersInValue, DiffersInAcceptance, DiffersInForm}
}

// Graver reports whether c is graver than other.
func (c DifferenceClass) Graver(other DifferenceClass) bool {
	return slices.Index(DifferenceClasses(), c) < slices.Index(DifferenceClasses(), other)
}

// Semantics lists the differences between the answers of one contender and those of the reference
// implementation. The test uses inputs for which implementations are known to differ, such as
// unusual numbers. The differences do not disqualify a contender.
type Semantics struct {
	Contender   string       `json:"contender"`
	Reference   string       `json:"reference"` // e.g. encoding/json go1.26.8
	Cases       int          `json:"cases"`
	Differences []Difference `json:"differences"`
	Unsupported []string     `json:"unsupported,omitempty"` // operations that the contender does not have
}

// Difference is one case in which the contender differs from the reference.
type Difference struct {
	Property  string          `json:"property"` // row of the table, e.g. float digits
	Op        string          `json:"op"`       // operation of the test
	Case      string          `json:"case"`     // unique for its op
	Class     DifferenceClass `json:"class"`
	Asked     string          `json:"asked"`     // input of the case, as text
	Reference string          `json:"reference"` // result of the reference
	Got       string          `json:"got"`       // result of the contender
	Says      string          `json:"says"`      // the consequence as a predicate, e.g. "writes 1.5e-9 as 0"

	BearsOn []string `json:"bears_on,omitempty"` // operations of workloads that the difference affects
}
