package tare

import "fmt"

// Decompose requests that a difference between two contenders is split into causes. A chain of
// contenders leads from one to the other. Each step changes one thing, its cause.
type Decompose struct {
	ID       string          `json:"id"`
	Question string          `json:"question,omitempty"`
	Workload string          `json:"workload"`
	Metric   string          `json:"metric,omitempty"` // "" means the primary metric
	From     string          `json:"from"`             // first contender of the chain
	Steps    []DecomposeStep `json:"steps"`
}

// DecomposeStep is one link of the chain.
type DecomposeStep struct {
	To    string `json:"to"`    // contender
	Cause string `json:"cause"` // the change, as a noun: "a line of log per request"
}

func (d Decompose) validate(path string, s *Study, workloads, contenders map[string]bool) error {
	switch {
	case d.ID == "":
		return fieldError(path+".id", "decomposition without an id", "e.g. id: F3.1")
	case d.Workload == "":
		return fieldError(path+".workload", "decomposition without a workload", "name one of the study's workloads")
	case d.From == "":
		return fieldError(path+".from", "decomposition without a start", "name the contender the chain starts at")
	case len(d.Steps) == 0:
		return fieldError(path+".steps", "decomposition without steps", "e.g. steps: [{to: gin-new, cause: the framework}]")
	}
	if err := s.checkReferences(path, "", d.Workload, d.Metric, workloads, contenders); err != nil {
		return err
	}
	if !contenders[d.From] {
		return fieldError(path+".from", fmt.Sprintf("unknown contender %q", d.From), "name one of the study's contenders")
	}
	for i, step := range d.Steps {
		switch {
		case !contenders[step.To]:
			return fieldError(fmt.Sprintf("%s.steps[%d].to", path, i), fmt.Sprintf("unknown contender %q", step.To), "name one of the study's contenders")
		case step.Cause == "":
			return fieldError(fmt.Sprintf("%s.steps[%d].cause", path, i), "a step without its cause", "say what it changes, e.g. cause: the framework")
		}
	}
	return nil
}

// Decomposition is a difference split into causes. As logarithms of ratios, the effects of the
// steps add up to that of the total.
type Decomposition struct {
	ID       string  `json:"id"`
	Question string  `json:"question,omitempty"`
	Workload string  `json:"workload"`
	Metric   string  `json:"metric"`
	Whole    Cause   `json:"whole"` // from the first contender to the last
	Steps    []Cause `json:"steps"`
	Sentence string  `json:"sentence"`
}

// Cause is one step of a chain, or the total: the comparison of To with From.
type Cause struct {
	Cause  string  `json:"cause,omitempty"`
	From   string  `json:"from"`
	To     string  `json:"to"`
	Ratio  float64 `json:"ratio"` // To / From
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Level  float64 `json:"level"` // confidence, of all steps and looks together
	Rounds int     `json:"rounds"`

	// FromValue and ToValue are medians over rounds, in Unit.
	FromValue float64 `json:"from_value"`
	ToValue   float64 `json:"to_value"`
	Unit      string  `json:"unit"`

	// Share is the step's part of the total difference. It is 0 if the total is not significant.
	Share     float64 `json:"share,omitempty"`
	ShareLow  float64 `json:"share_low,omitempty"`
	ShareHigh float64 `json:"share_high,omitempty"`
}

// Profile lists where one contender spent its time or memory on one workload, after the rounds.
type Profile struct {
	Contender string        `json:"contender"`
	Workload  string        `json:"workload"`
	Of        string        `json:"of"`              // ProfileCPU or ProfileMem
	Unit      string        `json:"unit"`            // nanoseconds or bytes
	Total     float64       `json:"total"`           // in Unit
	Ops       int64         `json:"ops"`             // number of operations during the profile
	File      string        `json:"file,omitempty"`  // pprof document, next to the result
	Flame     string        `json:"flame,omitempty"` // flame graph as SVG, next to the result
	Top       []ProfileLine `json:"top,omitempty"`   // functions with the largest flat values, which exclude called functions
	Gap       *ProfileGap   `json:"gap,omitempty"`   // difference from the baseline's profile; nil for the baseline
}

// ProfileGap explains the difference between the profiles of a contender and the baseline. All
// values are per operation. Those of lines exclude called functions.
type ProfileGap struct {
	Against   string    `json:"against"`   // id of the baseline
	From      float64   `json:"from"`      // total of Against
	To        float64   `json:"to"`        // total of the profile's contender
	Parts     []GapLine `json:"parts"`     // packages, and activities of the runtime, with the largest differences
	Functions []GapLine `json:"functions"` // functions with the largest differences
}

// GapLine is the cost of one function or part.
type GapLine struct {
	Name string  `json:"name"`
	From float64 `json:"from"` // value in the profile of Against
	To   float64 `json:"to"`   // value in the contender's profile
}

// ProfileLine is the cost of one function.
type ProfileLine struct {
	Function   string  `json:"function"`
	Flat       float64 `json:"flat"`       // excluding called functions
	Cumulative float64 `json:"cumulative"` // including called functions
}

// Kinds of profiles.
const (
	ProfileCPU = "cpu"
	ProfileMem = "mem"
)
