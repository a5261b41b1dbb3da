package tare

import "slices"

// OnMachine is the part of a result that one of several machines measured.
type OnMachine struct {
	Name        string       `json:"name"`
	Machine     Machine      `json:"machine"`
	Rounds      int          `json:"rounds"`
	Seed        string       `json:"seed"`
	Comparisons []Comparison `json:"comparisons"`
	Effects     []Effects    `json:"effects"`        // of its rounds
	Part        []string     `json:"part,omitempty"` // workloads that only this machine measured; empty if it measured all
}

// Divided reports whether each machine measured other workloads, and no verdict is
// over machines.
func (r *Result) Divided() bool {
	return len(r.Machines) > 0 && len(r.Machines[0].Part) > 0
}

// MeasuredBy returns the only machine that measured a workload, or "" if none or all did.
func (r *Result) MeasuredBy(workload string) string {
	for _, m := range r.Machines {
		if slices.Contains(m.Part, workload) {
			return m.Name
		}
	}
	return ""
}

// OverMachines is a comparison over machines of one kind. Rounds are paired on
// one machine; ratios never cross machines.
type OverMachines struct {
	Workload  string   `json:"workload"`
	Contender string   `json:"contender"`
	Metric    string   `json:"metric"`
	Against   string   `json:"against"`
	Kind      string   `json:"machine_kind"`       // operating system and architecture
	Less      []string `json:"less_on,omitempty"`  // names of machines on which it takes significantly less
	More      []string `json:"more_on,omitempty"`  // those on which it takes significantly more
	Open      []string `json:"open_on,omitempty"`  // those on which no difference was shown
	Void      []string `json:"void_on,omitempty"`  // those on which it is void
	Ratio     float64  `json:"ratio,omitempty"`    // mean over machines; zero with fewer than three
	Low       float64  `json:"low,omitempty"`      // interval over machines
	High      float64  `json:"high,omitempty"`     //
	Level     float64  `json:"level,omitempty"`    // confidence of it
	Between   float64  `json:"between,omitempty"`  // standard deviation between machines, of the logarithm
	I2        float64  `json:"i2,omitempty"`       // share of the differences that rounds do not explain
	P         float64  `json:"p_same"`             // of one and the same ratio everywhere, adjusted for the family
	Differ    bool     `json:"differ,omitempty"`   // the machines do not have one ratio
	Sentence  string   `json:"sentence,omitempty"` // in words
}
