package tare

// Machine describes the machine of a result.
type Machine struct {
	OS         string       `json:"os"`
	Arch       string       `json:"arch"`
	Kernel     string       `json:"kernel,omitempty"`
	CPU        string       `json:"cpu,omitempty"`
	Cores      int          `json:"cores"`
	Memory     int64        `json:"memory_bytes,omitempty"`
	Go         string       `json:"go"`
	Facilities []Facility   `json:"facilities"`
	Noise      Noise        `json:"noise"` // over the entire study
	Resolution []Resolution `json:"resolution,omitempty"`
	Unlocked   bool         `json:"unlocked,omitempty"` // another tare may have measured at the same time
}

// Facility is something a machine can tell, or cannot.
type Facility struct {
	Name  string `json:"name"`
	Found bool   `json:"found"`
	Note  string `json:"note,omitempty"`
}

// Noise is the load of the machine other than the measurement. Shares are of wall time; a negative
// value was not recorded.
type Noise struct {
	CPUPressure  float64 `json:"cpu_pressure"`   // share of time some task waited for a processor
	RunQueueWait float64 `json:"run_queue_wait"` // share of their time the contenders waited to run
	Throttled    float64 `json:"throttled"`      // share of time the quota stopped them
}

// Resolution is the smallest difference the control let this machine see.
type Resolution struct {
	Workload  string  `json:"workload"`
	Metric    string  `json:"metric"`
	HalfWidth float64 `json:"half_width"`       // the noise floor as a share: 0.02 is ±2 %
	Within    float64 `json:"within,omitempty"` // part of HalfWidth from variance within rounds: one build against itself; 0 if unknown
	Found     float64 `json:"found,omitempty"`  // the difference, as a share, that four of five such studies would find; zero in older results
	Seconds   float64 `json:"seconds"`          // it took
}
