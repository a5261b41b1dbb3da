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
	Facilities []Facility   `json:"facilities"` // available to checks
	Noise      Noise        `json:"noise"`      // over the study
	Resolution []Resolution `json:"resolution,omitempty"`
	Unlocked   bool         `json:"unlocked,omitempty"` // another tare may have measured at the same time
}

// Facility is a source of information, e.g. a counter of the kernel.
type Facility struct {
	Name  string `json:"name"`
	Found bool   `json:"found"`
	Note  string `json:"note,omitempty"`
}

// Noise is the influence of other load on the measurement. A negative share was not recorded.
type Noise struct {
	CPUPressure  float64 `json:"cpu_pressure"`   // share of wall time in which a task waited to run
	RunQueueWait float64 `json:"run_queue_wait"` // share of the contenders' time in which they waited to run
	Throttled    float64 `json:"throttled"`      // share of wall time in which a quota stopped them

	// OtherCPU is the share of all processors' time that other programs used, or nil if unknown.
	// The other shares also contain tare's own waiting.
	OtherCPU *float64 `json:"other_cpu,omitempty"`
}

// Noise of a quiet machine. More is worth a warning.
const (
	MaxOtherCPU    = 0.05 // Noise.OtherCPU; on two processors a tenth of one
	MaxCPUPressure = 0.10 // Noise.CPUPressure, if OtherCPU is unknown
)

// IsBusy reports whether other programs disturbed the measurement.
func (n Noise) IsBusy() bool {
	if n.OtherCPU != nil {
		return *n.OtherCPU > MaxOtherCPU
	}
	return n.CPUPressure > MaxCPUPressure
}

// Resolution is the smallest difference that this machine could show, by two copies of the
// baseline.
type Resolution struct {
	Workload  string  `json:"workload"`
	Metric    string  `json:"metric"`
	HalfWidth float64 `json:"half_width"`       // noise floor: 0.02 is ±2 %
	Within    float64 `json:"within,omitempty"` // part of HalfWidth within rounds; 0 if unknown
	Found     float64 `json:"found,omitempty"`  // share that four of five such studies would find
	Seconds   float64 `json:"seconds"`
}
