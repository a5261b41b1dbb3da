package tare

// Isolation is the way in which the contenders of a round take turns. A round is one trial
// (process) of every contender. A slice is the work of one contender while the others wait.
type Isolation string

const (
	Lockstep  Isolation = "lockstep" // all trials are open and take turns slice by slice
	TrialWise Isolation = "trial"    // one complete trial after another
)

// Reference is the denominator of ratios to the baseline, for metrics that are measured per slice.
type Reference string

// BaselineAndControl is the mean of the baseline and the control, which is the same program a
// second time. Older plans have "", which means the baseline only.
const BaselineAndControl Reference = "baseline+control"

// Plan determines the rounds of a study. All orders in the rounds follow from its seed.
type Plan struct {
	Seed            string       `json:"seed"`
	Isolation       Isolation    `json:"isolation"`
	Reference       Reference    `json:"reference,omitempty"`
	Contenders      []string     `json:"contenders"`      // ids, including control and null
	Looks           []int        `json:"looks"`           // numbers of rounds after which the evidence is judged
	Until           float64      `json:"until,omitempty"` // continue until every difference is significant or smaller than this share; 0 means no such goal
	RoundsPlanned   int          `json:"rounds_planned"`
	Slices          []Slicing    `json:"slices"`                   // one per workload
	SecondsPerRound float64      `json:"seconds_per_round"`        // forecast
	PilotSeconds    float64      `json:"pilot_seconds,omitempty"`  // duration of the pilots
	BudgetSeconds   float64      `json:"budget_seconds,omitempty"` // 0 means a fixed number of rounds
	Stretched       bool         `json:"stretched,omitempty"`      // the run exceeds the budget to reach a verdict
	LeftOut         []NotWeighed `json:"left_out,omitempty"`       // parts of the study that a budget of the user has no time for
	Retired         []Retired    `json:"retired,omitempty"`        // contenders that left early, proven slower than the leaders
	Fits            bool         `json:"fits,omitempty"`           // the budget has time for the rounds of a verdict
	Revised         int          `json:"revised,omitempty"`        // number of rounds after which slices were planned again; 0 means never
	LongEvery       int          `json:"long_every,omitempty"`     // rounds between extra rounds of longer slices; 0 means none
}

// Retired is a contender that left the rounds early.
type Retired struct {
	Contender string `json:"contender"`
	After     int    `json:"after"` // number of rounds it took part in
}

// Pilot contains the estimates for one contender on one workload, from a short run before the first
// round. A comment "benchmark" means that only contenders of Go benchmarks have the field.
type Pilot struct {
	Contender   string  `json:"contender"`
	Workload    string  `json:"workload"`
	NSPerOp     float64 `json:"ns_per_op"`
	BytesPerOp  float64 `json:"bytes_per_op"`
	AllocsPerOp float64 `json:"allocs_per_op"`
	CycleNS     float64 `json:"cycle_ns,omitempty"`  // wall time from one collection cycle to the next; 0 means unknown
	SetupNS     float64 `json:"setup_ns"`            // per round before the first slice: start, sample of cases and warm-up
	AroundNS    float64 `json:"around_ns,omitempty"` // benchmark: overhead of package testing around each slice

	UntimedNS float64 `json:"untimed_ns,omitempty"` // benchmark: time of an operation while its timer is stopped
	Process   string  `json:"process,omitempty"`    // benchmark: its package, which is one process
	StartNS   float64 `json:"start_ns,omitempty"`   // time to start that process, once per round
	Counted   bool    `json:"counted,omitempty"`    // benchmark: its slices count allocations
}

// ElapsedNS returns the duration of an operation, including its untimed part.
func (p Pilot) ElapsedNS() float64 { return p.NSPerOp + p.UntimedNS }

// TimedShare returns the timed share of the duration of an operation. It is 1 unless a benchmark
// stops its timer.
func (p Pilot) TimedShare() float64 {
	if p.UntimedNS <= 0 || p.NSPerOp <= 0 {
		return 1
	}
	return p.NSPerOp / p.ElapsedNS()
}

// Until is the condition that ends a slice.
type Until string

const (
	UntilOps Until = "ops" // after a fixed number of operations
	UntilGC  Until = "gc"  // after complete garbage collection cycles
)

// Slicing divides one workload into slices. All contenders run the same number of slices. If a
// contender allocates, its slices last for complete garbage collection cycles. The slices of the
// others are about as long.
type Slicing struct {
	Workload    string           `json:"workload"`
	Contenders  []string         `json:"contenders"`              // ids of the contenders that support the workload
	Count       int              `json:"count"`                   // per round and contender
	Block       int              `json:"block"`                   // number of slices that are summed into one block
	TargetNS    int64            `json:"target_ns"`               // desired length of a slice
	MinNS       int64            `json:"min_ns"`                  // shortest slice with UntilGC
	CapNS       int64            `json:"cap_ns"`                  // longest slice with UntilGC
	Until       map[string]Until `json:"until"`                   // by contender, like all maps of this type
	Ops         map[string]int64 `json:"ops"`                     // operations in TargetNS
	Cycles      map[string]int64 `json:"cycles,omitempty"`        // collection cycles in TargetNS, with UntilGC
	MemoryOps   int64            `json:"memory_ops"`              // operations of the pass that counts allocations
	Lead        map[string]int64 `json:"lead"`                    // unmeasured operations before each slice
	Visits      bool             `json:"visits,omitempty"`        // of servers: a load generator loads one after the other
	RatioOfSums bool             `json:"ratio_of_sums,omitempty"` // effects are ratios of sums instead of blocks
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

// Round is one trial of every contender, in random order. Intervals are computed from rounds.
type Round struct {
	Index     int                   `json:"round"`     // from 1
	Tau       int                   `json:"tau"`       // slice length as a multiple of the plan's
	Start     []string              `json:"start"`     // order in which the trials are opened
	Workloads []string              `json:"workloads"` // order in which they run
	Orders    map[string][][]string `json:"orders"`    // workload → slice → contenders in order
	Noise     Noise                 `json:"noise"`     // of the machine, over the round
	Seconds   float64               `json:"seconds"`   // wall time
}

// Effects contains the logarithm of the ratio, ln(a/b), of one pair of contenders in each round. A
// pair is stored in one order only.
type Effects struct {
	Workload string    `json:"workload"`
	Metric   string    `json:"metric"`
	A        string    `json:"a"`
	B        string    `json:"b"`
	Effects  []float64 `json:"effects"`             // from blocks, or from sums if the plan selects them
	Sums     []float64 `json:"sums,omitempty"`      // from sums, for comparison
	Of       []int     `json:"of_rounds,omitempty"` // the round of each effect; nil means rounds 1, 2, 3 and so on
}

// Slice is the result of one slice: the work of one contender on one workload while all others
// waited. The contender that may work has the token.
type Slice struct {
	Round     int    `json:"round"`
	Index     int    `json:"slice"`           // within the round, from 0
	Position  int    `json:"position"`        // in the order of that slice, from 0
	After     string `json:"after,omitempty"` // contender that had the token before; "" for the first
	Tau       int    `json:"tau"`
	Workload  string `json:"workload"`
	Contender string `json:"contender"`
	Ops       int64  `json:"ops"`
	WallNS    int64  `json:"wall_ns"`
	CPUNS     int64  `json:"cpu_ns"`      // of the process while it had the token
	IdleCPUNS int64  `json:"idle_cpu_ns"` // of the process since its previous reply
	GC        int64  `json:"gc"`          // completed collection cycles
	Errors    int64  `json:"errors"`
	BytesOut  int64  `json:"bytes_out"`
}
