package tare

// Isolation is the way in which the contenders of a round take turns. A round is one trial
// (process) of every contender. A slice is the work of one of them while the others wait.
type Isolation string

// Isolations.
const (
	Lockstep  Isolation = "lockstep" // all take turns, slice by slice
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
	Contenders      []string     `json:"contenders"`      // ids, with control and null
	Looks           []int        `json:"looks"`           // rounds after which the evidence is judged
	Until           float64      `json:"until,omitempty"` // goal for every difference: significant or smaller than this share; 0 if none
	RoundsPlanned   int          `json:"rounds_planned"`
	Slices          []Slicing    `json:"slices"`            // one per workload
	SecondsPerRound float64      `json:"seconds_per_round"` // forecast
	PilotSeconds    float64      `json:"pilot_seconds,omitempty"`
	BudgetSeconds   float64      `json:"budget_seconds,omitempty"` // 0 if the number of rounds is fixed
	Stretched       bool         `json:"stretched,omitempty"`      // the run exceeds the budget, to reach a verdict
	LeftOut         []NotWeighed `json:"left_out,omitempty"`       // parts for which a budget of the user has no time
	Retired         []Retired    `json:"retired,omitempty"`        // proven slower than the leaders
	Fits            bool         `json:"fits,omitempty"`           // the budget has time for a verdict
	Revised         int          `json:"revised,omitempty"`        // rounds before the slices were planned again; 0 means never
	LongEvery       int          `json:"long_every,omitempty"`     // rounds between longer ones; 0 means none
}

// Retired is a contender that left the rounds early.
type Retired struct {
	Contender string `json:"contender"`
	After     int    `json:"after"` // rounds
}

// Pilot contains the estimates for one contender on one workload, from a short run before the first
// round. Only Go benchmarks have a field with the comment "benchmark".
type Pilot struct {
	Contender   string  `json:"contender"`
	Workload    string  `json:"workload"`
	NSPerOp     float64 `json:"ns_per_op"`
	BytesPerOp  float64 `json:"bytes_per_op"`
	AllocsPerOp float64 `json:"allocs_per_op"`
	CycleNS     float64 `json:"cycle_ns,omitempty"`  // time between collection cycles; 0 means unknown
	SetupNS     float64 `json:"setup_ns"`            // per round, before the first slice
	AroundNS    float64 `json:"around_ns,omitempty"` // benchmark: overhead around each slice

	UntimedNS float64 `json:"untimed_ns,omitempty"` // benchmark: per operation, with a stopped timer
	Process   string  `json:"process,omitempty"`    // benchmark: its package
	StartNS   float64 `json:"start_ns,omitempty"`   // start of that process, once per round
	Counted   bool    `json:"counted,omitempty"`    // benchmark: slices count allocations
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
	UntilOps Until = "ops" // a number of operations
	UntilGC  Until = "gc"  // complete garbage collection cycles
)

// Slicing divides one workload into slices, equally many for all contenders. If one allocates, its
// slices last for complete garbage collection cycles. The others' are about as long.
type Slicing struct {
	Workload    string           `json:"workload"`
	Contenders  []string         `json:"contenders"`              // those that support the workload
	Count       int              `json:"count"`                   // per round and contender
	Block       int              `json:"block"`                   // slices in a block
	TargetNS    int64            `json:"target_ns"`               // length of a slice
	MinNS       int64            `json:"min_ns"`                  // shortest slice with UntilGC
	CapNS       int64            `json:"cap_ns"`                  // longest slice with UntilGC
	Until       map[string]Until `json:"until"`                   // key: contender, as in all maps of this type
	Ops         map[string]int64 `json:"ops"`                     // operations in TargetNS
	Cycles      map[string]int64 `json:"cycles,omitempty"`        // collection cycles in TargetNS, with UntilGC
	MemoryOps   int64            `json:"memory_ops"`              // the pass that counts allocations
	Lead        map[string]int64 `json:"lead"`                    // unmeasured, before each slice
	Visits      bool             `json:"visits,omitempty"`        // servers, loaded one after the other
	RatioOfSums bool             `json:"ratio_of_sums,omitempty"` // instead of blocks
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
	Index     int                   `json:"round"` // first is 1
	Tau       int                   `json:"tau"`   // slice length over the planned one
	Start     []string              `json:"start"` // order of trials
	Workloads []string              `json:"workloads"`
	Orders    map[string][][]string `json:"orders"` // workload → slice → contenders in order
	Noise     Noise                 `json:"noise"`
	Seconds   float64               `json:"seconds"`
}

// Effects contains ln(a/b) of one pair of contenders in each round. A pair is stored in one order
// only.
type Effects struct {
	Workload string    `json:"workload"`
	Metric   string    `json:"metric"`
	A        string    `json:"a"`
	B        string    `json:"b"`
	Effects  []float64 `json:"effects"`             // computed from blocks, or from sums
	Sums     []float64 `json:"sums,omitempty"`      // computed from sums
	Of       []int     `json:"of_rounds,omitempty"` // round of each effect; nil means 1, 2, 3 and so on
}

// Slice is the work of one contender on one workload while all others waited. The contender that
// may work has the token.
type Slice struct {
	Round     int    `json:"round"`
	Index     int    `json:"slice"`           // within the round, from 0
	Position  int    `json:"position"`        // place in its order, from 0
	After     string `json:"after,omitempty"` // who had the token before, or ""
	Tau       int    `json:"tau"`
	Workload  string `json:"workload"`
	Contender string `json:"contender"`
	Ops       int64  `json:"ops"`
	WallNS    int64  `json:"wall_ns"`
	CPUNS     int64  `json:"cpu_ns"`      // CPU time with the token
	IdleCPUNS int64  `json:"idle_cpu_ns"` // CPU time since the previous reply
	GC        int64  `json:"gc"`          // completed collection cycles
	Errors    int64  `json:"errors"`
	BytesOut  int64  `json:"bytes_out"`
}
