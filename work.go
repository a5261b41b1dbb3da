package tare

// Counter counts the instructions of programs.
type Counter struct {
	Name         string `json:"name"`                   // hardware or valgrind
	Version      string `json:"version,omitempty"`      // of Valgrind
	Uncalibrated bool   `json:"uncalibrated,omitempty"` // its intervals were never compared with known differences
}

// String returns the counter as it is printed.
func (c Counter) String() string {
	switch {
	case c.Uncalibrated:
		return c.Name + " counters, uncalibrated"
	case c.Version != "":
		return c.Name + " " + c.Version
	}
	return c.Name
}

// Work holds the counts of one contender on one workload. A [Comparison] of the metric has the
// ratio.
type Work struct {
	Workload  string    `json:"workload"`
	Contender string    `json:"contender"`
	Metric    string    `json:"metric"`
	Ops       int64     `json:"ops"`    // operations of one count
	PerOp     []float64 `json:"per_op"` // one of each count, in the unit of the metric
}

// WorkOf returns what was counted of a contender on a workload.
func (m Measured) WorkOf(workload, contender string) (Work, bool) {
	for _, w := range m.Work {
		if w.Workload == workload && w.Contender == contender {
			return w, true
		}
	}
	return Work{}, false
}
