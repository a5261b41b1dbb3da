package tare

import "slices"

// OnMachine is the part of a result that one of several machines measured.
type OnMachine struct {
	Name        string       `json:"name"`
	Machine     Machine      `json:"machine"`
	Rounds      int          `json:"rounds"`
	Seed        string       `json:"seed"`
	Comparisons []Comparison `json:"comparisons"`
	Effects     []Effects    `json:"effects"`
	Part        []string     `json:"part,omitempty"` // ids of the workloads that only this machine measured; empty if each machine measured all
}

// Divided reports whether the workloads were divided among machines. Then there are no verdicts
// over machines.
func (r *Result) Divided() bool {
	return len(r.Machines) > 0 && len(r.Machines[0].Part) > 0
}

// MeasuredBy returns the machine that measured a workload in a divided study, or "".
func (r *Result) MeasuredBy(workload string) string {
	for _, m := range r.Machines {
		if slices.Contains(m.Part, workload) {
			return m.Name
		}
	}
	return ""
}

// OverMachines compares two contenders over all machines of one kind. It combines the ratios that
// the machines have measured.
type OverMachines struct {
	Workload  string   `json:"workload"`
	Contender string   `json:"contender"`
	Metric    string   `json:"metric"`
	Against   string   `json:"against"`
	Kind      string   `json:"machine_kind"`       // operating system and architecture, e.g. linux/amd64
	Less      []string `json:"less_on,omitempty"`  // machines on which Contender takes significantly less
	More      []string `json:"more_on,omitempty"`  // machines on which it takes significantly more
	Open      []string `json:"open_on,omitempty"`  // machines on which no difference was shown
	Void      []string `json:"void_on,omitempty"`  // machines on which the comparison is void
	Ratio     float64  `json:"ratio,omitempty"`    // mean over machines; 0 with fewer than three machines
	Low       float64  `json:"low,omitempty"`      // interval of Ratio over machines
	High      float64  `json:"high,omitempty"`     //
	Level     float64  `json:"level,omitempty"`    // confidence of the interval
	Between   float64  `json:"between,omitempty"`  // standard deviation of the logarithm of the ratio between machines
	I2        float64  `json:"i2,omitempty"`       // share of the variance of the ratios that the variance over rounds does not explain
	P         float64  `json:"p_same"`             // p-value of the hypothesis that all machines have the same ratio, adjusted for their number
	Differ    bool     `json:"differ,omitempty"`   // the machines have significantly different ratios
	Sentence  string   `json:"sentence,omitempty"` // the comparison in words
}
