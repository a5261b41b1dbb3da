package tare

// Counter identifies how the instructions of programs were counted.
type Counter struct {
	Name         string `json:"name"`                   // hardware or valgrind
	Version      string `json:"version,omitempty"`      // version of Valgrind
	Uncalibrated bool   `json:"uncalibrated,omitempty"` // its intervals have not been tested with known differences
}

func (c Counter) String() string {
	switch {
	case c.Uncalibrated:
		return c.Name + " counters, uncalibrated"
	case c.Version != "":
		return c.Name + " " + c.Version
	}
	return c.Name
}

// Work contains the counted instructions of one contender on one workload.
type Work struct {
	Workload  string    `json:"workload"`
	Contender string    `json:"contender"`
	Metric    string    `json:"metric"`
	Ops       int64     `json:"ops"`    // operations of one count
	PerOp     []float64 `json:"per_op"` // value of each count per operation, in the unit of the metric
}

// WorkOf returns the counts of a contender on a workload, or false if there are none.
func (m Measured) WorkOf(workload, contender string) (Work, bool) {
	for _, w := range m.Work {
		if w.Workload == workload && w.Contender == contender {
			return w, true
		}
	}
	return Work{}, false
}
