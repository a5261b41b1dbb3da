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
	Facilities []Facility   `json:"facilities"` // features that measurements use, or that affect them
	Noise      Noise        `json:"noise"`      // disturbance over the entire study
	Resolution []Resolution `json:"resolution,omitempty"`
	Unlocked   bool         `json:"unlocked,omitempty"` // no lock was held, so another tare may have measured at the same time
}

// Facility is a feature of the machine, e.g. a counter of the kernel.
type Facility struct {
	Name  string `json:"name"`
	Found bool   `json:"found"` // the machine has it, or can report it
	Note  string `json:"note,omitempty"`
}

// Noise is the influence of other load on the measurement. A negative share was not recorded.
type Noise struct {
	CPUPressure  float64 `json:"cpu_pressure"`   // share of wall time in which some task waited for a processor
	RunQueueWait float64 `json:"run_queue_wait"` // time that the contenders waited for a processor, over the time that they waited or ran
	Throttled    float64 `json:"throttled"`      // share of wall time in which a CPU quota stopped the contenders

	// OtherCPU is the share of all processors' time that other programs used. It is nil if unknown,
	// as in older results. CPUPressure and RunQueueWait are less certain, because tare's own
	// processes wait for each other, too.
	OtherCPU *float64 `json:"other_cpu,omitempty"`
}

// Noise of a quiet machine. More is worth a warning.
const (
	MaxOtherCPU    = 0.05 // Noise.OtherCPU; on two processors a tenth of one
	MaxCPUPressure = 0.10 // Noise.CPUPressure, if OtherCPU is unknown
)

// IsBusy reports whether other programs disturbed the measurement. It decides by OtherCPU, or by
// CPUPressure if that is unknown.
func (n Noise) IsBusy() bool {
	if n.OtherCPU != nil {
		return *n.OtherCPU > MaxOtherCPU
	}
	return n.CPUPressure > MaxCPUPressure
}

// Resolution is the smallest difference that this machine could show. It follows from the control,
// which is the baseline measured a second time.
type Resolution struct {
	Workload  string  `json:"workload"`
	Metric    string  `json:"metric"`
	HalfWidth float64 `json:"half_width"`       // noise floor as a share: 0.02 is ±2 %
	Within    float64 `json:"within,omitempty"` // part of HalfWidth from variance between slices of the same processes; 0 if unknown
	Found     float64 `json:"found,omitempty"`  // difference, as a share, that four of five such studies would find; 0 in older results
	Seconds   float64 `json:"seconds"`          // duration of the measurement
}
