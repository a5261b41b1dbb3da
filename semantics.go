package tare

import "slices"

// DifferenceClass states how much a difference in meaning matters.
type DifferenceClass string

// Classes, the gravest first.
const (
	DiffersInValue      DifferenceClass = "value"      // another value arrives
	DiffersInAcceptance DifferenceClass = "acceptance" // input that the reference rejects is accepted, or the reverse
	DiffersInForm       DifferenceClass = "form"       // the same value, spelled differently
)

// DifferenceClasses lists the classes, the gravest first.
func DifferenceClasses() []DifferenceClass {
	return []DifferenceClass{DiffersInValue, DiffersInAcceptance, DiffersInForm}
}

// Graver reports whether c matters more than other.
func (c DifferenceClass) Graver(other DifferenceClass) bool {
	return slices.Index(DifferenceClasses(), c) < slices.Index(DifferenceClasses(), other)
}

// Semantics lists where one contender's answers differ from the reference's on cases made for that:
// odd numbers, odd text, broken documents. They do not disqualify; they are part of the trade-off.
type Semantics struct {
	Contender   string       `json:"contender"`
	Reference   string       `json:"reference"` // e.g. encoding/json go1.26.8
	Cases       int          `json:"cases"`     // that were tested
	Differences []Difference `json:"differences"`
	Unsupported []string     `json:"unsupported,omitempty"` // operations it does not have
}

// Difference is one case that came out differently.
type Difference struct {
	Property  string          `json:"property"` // row of the table, e.g. float digits
	Op        string          `json:"op"`       // operation of the test
	Case      string          `json:"case"`     // unique for its op
	Class     DifferenceClass `json:"class"`
	Asked     string          `json:"asked"`     // what was given, as text
	Reference string          `json:"reference"` // what the reference made of it
	Got       string          `json:"got"`
	Says      string          `json:"says"` // the consequence, to follow the contender's name: "writes 1.5e-9 as 0"

	BearsOn []string `json:"bears_on,omitempty"` // operations of workloads whose users meet it
}
