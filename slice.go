package tare

// Slice is the work of one token: what one contender did with one workload
// before it handed the token back.
type Slice struct {
	Round     int    `json:"round"`
	Index     int    `json:"slice"`           // within the round, from 0
	Position  int    `json:"position"`        // in the order of that slice, from 0
	After     string `json:"after,omitempty"` // contender that held the token before; empty for the first
	Tau       int    `json:"tau"`
	Workload  string `json:"workload"`
	Contender string `json:"contender"`
	Ops       int64  `json:"ops"`
	WallNS    int64  `json:"wall_ns"`
	CPUNS     int64  `json:"cpu_ns"`      // of the process while it held the token
	IdleCPUNS int64  `json:"idle_cpu_ns"` // of the process between its previous reply and this token
	GC        int64  `json:"gc"`          // collection cycles completed
	Errors    int64  `json:"errors"`
	BytesOut  int64  `json:"bytes_out"`
}
