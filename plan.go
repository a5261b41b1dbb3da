package tare

// Isolation is the way in which the contenders of a round take turns. A round is one trial
// (process) of every contender. A slice is the work of one of them while the others wait.
type Isolation string

// Isolations.
const (
	Lockstep  Isolation = "lockstep" // all trials are open at the same time and take turns, slice by slice
	TrialWise Isolation = "trial"    // one complete trial after another
)

// Reference is the denominator of ratios, for metrics that are measured per slice.
type Reference string

// BaselineAndControl is the mean of the baseline and the control, a second copy. Older plans have
// "", the baseline only.
const BaselineAndControl Reference = "baseline+control"

// Plan determines the rounds of a study. All orders follow from its seed.
type Plan struct {
	Seed            string       `json:"seed"`
	Isolation       Isolation    `json:"isolation"`
	Reference       Reference    `json:"reference,omitempty"`
	Contenders      []string     `json:"contenders"`      // ids of all contenders of a round, with control and null
	Looks           []int        `json:"looks"`           // numbers of rounds after which the evidence is judged
	Until           float64      `json:"until,omitempty"` // goal for every difference: significant or smaller than this share; 0 if none
	RoundsPlanned   int          `json:"rounds_planned"`
	Slices          []Slicing    `json:"slices"`                   // one per workload
	SecondsPerRound float64      `json:"seconds_per_round"`        // forecast
	PilotSeconds    float64      `json:"pilot_seconds,omitempty"`  // duration of the pilots, the short runs before the first round
	BudgetSeconds   float64      `json:"budget_seconds,omitempty"` // 0 if the number of rounds is fixed
	Stretched       bool         `json:"stretched,omitempty"`      // the run exceeds the budget, because a verdict needs more rounds than fit
	LeftOut         []NotWeighed `json:"left_out,omitempty"`       // parts of the study for which a budget of the user has no time
	Retired         []Retired    `json:"retired,omitempty"`        // contenders that left early, because they were proven slower than the leaders
	Fits            bool         `json:"fits,omitempty"`           // the budget has time for the least number of rounds for a verdict
	Revised         int          `json:"revised,omitempty"`        // number of rounds after which the number of slices was planned again; 0 means never
	LongEvery       int          `json:"long_every,omitempty"`     // number of rounds between extra rounds with slices of eight times the length; 0 means no extra rounds
}

// Retired is a contender that left the rounds early.
type Retired struct {
	Contender string `json:"contender"`
	After     int    `json:"after"` // number of rounds that it took part in
}

// Pilot contains the estimates for one contender on one workload, from a short run before the first
// round. Only Go benchmarks have a field with the comment "benchmark".
type Pilot struct {
	Contender   string  `json:"contender"`
	Workload    string  `json:"workload"`
	NSPerOp     float64 `json:"ns_per_op"`
	BytesPerOp  float64 `json:"bytes_per_op"`
	AllocsPerOp float64 `json:"allocs_per_op"`
	CycleNS     float64 `json:"cycle_ns,omitempty"`  // wall time from one collection cycle to the next; 0 if no cycle was observed
	SetupNS     float64 `json:"setup_ns"`            // time per round before the first slice
	AroundNS    float64 `json:"around_ns,omitempty"` // benchmark: overhead of package testing around each slice

	UntimedNS float64 `json:"untimed_ns,omitempty"` // benchmark: time of an operation while its timer is stopped
	Process   string  `json:"process,omitempty"`    // benchmark: its package, all of whose benchmarks run in one process
	StartNS   float64 `json:"start_ns,omitempty"`   // time to start that process, once per round
	Counted   bool    `json:"counted,omitempty"`    // benchmark in complete runs: its slices count allocations, without a separate pass
}

// ElapsedNS returns the duration of an operation, including its untimed part.
func (p Pilot) ElapsedNS() float64 { return p.NSPerOp + p.UntimedNS }

// TimedShare returns the timed share of an operation. It is 1 unless a benchmark stops its timer.
func (p Pilot) TimedShare() float64 {
	if p.UntimedNS <= 0 || p.NSPerOp <= 0 {
		return 1
	}
	return p.NSPerOp / p.ElapsedNS()
}

// Until is the condition that ends a slice.
type Until string

// Slice ends.
const (
	UntilOps Until = "ops" // the slice ends after a number of operations
	UntilGC  Until = "gc"  // the slice ends after complete garbage collection cycles
)

// Slicing divides one workload into slices, equally many for all contenders. If one allocates, its
// slices last for complete garbage collection cycles. The others' are about as long.
type Slicing struct {
	Workload    string           `json:"workload"`
	Contenders  []string         `json:"contenders"`              // ids of the contenders that support the workload
	Count       int              `json:"count"`                   // slices per round and contender
	Block       int              `json:"block"`                   // number of slices that are summed into one block
	TargetNS    int64            `json:"target_ns"`               // desired length of a slice
	MinNS       int64            `json:"min_ns"`                  // shortest slice with UntilGC
	CapNS       int64            `json:"cap_ns"`                  // longest slice with UntilGC
	Until       map[string]Until `json:"until"`                   // what ends a slice, by contender, like all maps of this type
	Ops         map[string]int64 `json:"ops"`                     // number of operations in TargetNS
	Cycles      map[string]int64 `json:"cycles,omitempty"`        // number of collection cycles in TargetNS, for contenders with UntilGC
	MemoryOps   int64            `json:"memory_ops"`              // number of operations of the pass that counts allocations
	Lead        map[string]int64 `json:"lead"`                    // number of unmeasured operations before each slice
	Visits      bool             `json:"visits,omitempty"`        // the contenders are servers, and a load generator loads one after the other
	RatioOfSums bool             `json:"ratio_of_sums,omitempty"` // effects are ratios of sums, because a collection cycle does not fit in a slice
}

// Slicing returns the slicing of workload.
func (p *Plan) Slicing(workload string) (Slicing, bool) {
	for _, s := range p.Slices {
		if s.Workload == workload {
			return s, true
		}
	}
	return Slicing{}, false
}

// Round is one trial of every contender, in random order.
type Round struct {
	Index     int                   `json:"round"`     // first is 1
	Tau       int                   `json:"tau"`       // slice length as a multiple of the planned one: 1, or 8 in the rounds that check slice length
	Start     []string              `json:"start"`     // order in which the trials are opened
	Workloads []string              `json:"workloads"` // order in which the workloads run
	Orders    map[string][][]string `json:"orders"`    // workload → slice → contenders in the order in which they run it
	Noise     Noise                 `json:"noise"`     // of the machine, over the round
	Seconds   float64               `json:"seconds"`   // wall time
}

// Effects contains the effect of one pair of contenders in each round: the logarithm of the ratio,
// ln(a/b). A pair is stored in one order only, because ln(b/a) = −ln(a/b).
type Effects struct {
	Workload string    `json:"workload"`
	Metric   string    `json:"metric"`
	A        string    `json:"a"`
	B        string    `json:"b"`
	Effects  []float64 `json:"effects"`             // estimates over blocks of slices, or ratios of sums if the plan selects them
	Sums     []float64 `json:"sums,omitempty"`      // logarithms of the ratios of sums, for comparison
	Of       []int     `json:"of_rounds,omitempty"` // round of each effect; nil means 1, 2, 3 and so on
}

// Slice is the work of one contender on one workload while all others waited. The contender that
// may work has the token.
type Slice struct {
	Round     int    `json:"round"`
	Index     int    `json:"slice"`           // within the round, from 0
	Position  int    `json:"position"`        // place of the contender in the order of that slice, from 0
	After     string `json:"after,omitempty"` // contender that had the token before; "" for the first
	Tau       int    `json:"tau"`
	Workload  string `json:"workload"`
	Contender string `json:"contender"`
	Ops       int64  `json:"ops"`
	WallNS    int64  `json:"wall_ns"`
	CPUNS     int64  `json:"cpu_ns"`      // CPU time of the process while it had the token
	IdleCPUNS int64  `json:"idle_cpu_ns"` // CPU time of the process between its previous reply and this token
	GC        int64  `json:"gc"`          // completed collection cycles
	Errors    int64  `json:"errors"`
	BytesOut  int64  `json:"bytes_out"`
}
