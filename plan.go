package tare

// Isolation is the way the contenders of a round share time.
type Isolation string

// Isolations.
const (
	Lockstep  Isolation = "lockstep" // slice by slice, a token goes round
	TrialWise Isolation = "trial"    // one complete trial after another
)

// Reference is the form of the baseline in a ratio to it, on metrics that are measured per slice.
type Reference string

// BaselineAndControl is the mean of the baseline and of the control, which is the baseline once
// more. In older plans the baseline represents itself.
const BaselineAndControl Reference = "baseline+control"

// Plan is every round in order, from a recorded seed.
type Plan struct {
	Seed            string       `json:"seed"`
	Isolation       Isolation    `json:"isolation"`
	Reference       Reference    `json:"reference,omitempty"`
	Contenders      []string     `json:"contenders"`      // every process of a round, by id
	Looks           []int        `json:"looks"`           // after how many rounds the evidence is judged
	Until           float64      `json:"until,omitempty"` // continues until every difference is found or smaller than this share; 0: ends with the budget
	RoundsPlanned   int          `json:"rounds_planned"`
	Slices          []Slicing    `json:"slices"` // one per workload
	SecondsPerRound float64      `json:"seconds_per_round"`
	PilotSeconds    float64      `json:"pilot_seconds,omitempty"`
	BudgetSeconds   float64      `json:"budget_seconds,omitempty"` // 0 means a fixed number of rounds
	Stretched       bool         `json:"stretched,omitempty"`      // the budget was stretched to the least number of rounds for a verdict
	LeftOut         []NotWeighed `json:"left_out,omitempty"`       // what a budget set by the user has no time for
	Retired         []Retired    `json:"retired,omitempty"`        // contenders that left before the end, because they were proven slower than the leaders on everything
	Fits            bool         `json:"fits,omitempty"`           // the budget has time for the least number of rounds for a verdict
	Revised         int          `json:"revised,omitempty"`        // after this many rounds the number of slices was planned again; 0: never
	LongEvery       int          `json:"long_every,omitempty"`     // rounds between extra rounds at eight times the slice length; 0: none
}

// Retired is a contender that left the rounds early.
type Retired struct {
	Contender string `json:"contender"`
	After     int    `json:"after"` // rounds it took part in
}

// Pilot holds the estimates for one contender on one workload before the first round.
type Pilot struct {
	Contender   string  `json:"contender"`
	Workload    string  `json:"workload"`
	NSPerOp     float64 `json:"ns_per_op"`
	BytesPerOp  float64 `json:"bytes_per_op"`
	AllocsPerOp float64 `json:"allocs_per_op"`
	CycleNS     float64 `json:"cycle_ns,omitempty"`  // wall time from one collection cycle to the next; 0 if none was seen
	SetupNS     float64 `json:"setup_ns"`            // start, prepare, sample and warm-up, as in every round
	AroundNS    float64 `json:"around_ns,omitempty"` // of a benchmark: what testing takes around each slice

	UntimedNS float64 `json:"untimed_ns,omitempty"` // of a benchmark: what an operation takes while its timer is stopped
	Process   string  `json:"process,omitempty"`    // of a benchmark: package whose process runs it, with the others of that package
	StartNS   float64 `json:"start_ns,omitempty"`   // to start that process, once a round
	Counted   bool    `json:"counted,omitempty"`    // of a benchmark in complete runs: its slices count allocations, without a separate pass
}

// ElapsedNS returns how long an operation takes, whether it is timed or not.
func (p Pilot) ElapsedNS() float64 { return p.NSPerOp + p.UntimedNS }

// TimedShare returns the share of the time of an operation that is timed: 1 unless
// a benchmark stops its timer.
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
	UntilOps Until = "ops" // after a fixed number of operations
	UntilGC  Until = "gc"  // after complete garbage collection cycles
)

// Slicing divides one workload into slices. All contenders take the same number of slices; those of
// work that allocates have complete collection cycles, and others last about as long.
type Slicing struct {
	Workload    string           `json:"workload"`
	Contenders  []string         `json:"contenders"` // those that can do it
	Count       int              `json:"count"`      // slices per round and contender
	Block       int              `json:"block"`      // slices summed into one block
	TargetNS    int64            `json:"target_ns"`  // how long a slice should be
	MinNS       int64            `json:"min_ns"`
	CapNS       int64            `json:"cap_ns"`
	Until       map[string]Until `json:"until"`                   // per contender
	Ops         map[string]int64 `json:"ops"`                     // per contender: operations in TargetNS
	Cycles      map[string]int64 `json:"cycles,omitempty"`        // per contender until gc: collection cycles in TargetNS
	MemoryOps   int64            `json:"memory_ops"`              // operations of the pass that counts allocations, the same for all
	Lead        map[string]int64 `json:"lead"`                    // per contender: unmeasured operations before each slice
	Visits      bool             `json:"visits,omitempty"`        // a load generator goes from server to server
	RatioOfSums bool             `json:"ratio_of_sums,omitempty"` // a collection cycle does not fit a slice: sums, not blocks, are primary
}

// Slicing returns how workload is sliced.
func (p *Plan) Slicing(workload string) (Slicing, bool) {
	for _, s := range p.Slices {
		if s.Workload == workload {
			return s, true
		}
	}
	return Slicing{}, false
}

// Round is every contender once, in random order: the unit of inference.
type Round struct {
	Index     int                   `json:"round"`     // from 1
	Tau       int                   `json:"tau"`       // slice length as a multiple of the plan's; 1, or 8 in the rounds that check slice length
	Start     []string              `json:"start"`     // order in which the trials are opened
	Workloads []string              `json:"workloads"` // order in which they run
	Orders    map[string][][]string `json:"orders"`    // workload → slice → contenders in the order the token visits them
	Noise     Noise                 `json:"noise"`     // of the machine, over the round
	Seconds   float64               `json:"seconds"`   // wall
}

// Effects are the round effects of one unordered pair: ln(a/b) per round, in
// round order. The effects of the reverse pair are their negatives.
type Effects struct {
	Workload string    `json:"workload"`
	Metric   string    `json:"metric"`
	A        string    `json:"a"`
	B        string    `json:"b"`
	Effects  []float64 `json:"effects"`             // block estimate (Hodges–Lehmann over blocks), or the ratio of sums if the plan selects it
	Sums     []float64 `json:"sums,omitempty"`      // ln of the ratio of sums, for comparison
	Of       []int     `json:"of_rounds,omitempty"` // the round of each effect; absent: they are of round 1, 2, 3 and so on
}

// Slice is the work of one token: what one contender did with one workload
// before it handed the token back.
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
	IdleCPUNS int64  `json:"idle_cpu_ns"` // of the process between its previous reply and this token
	GC        int64  `json:"gc"`          // collection cycles completed
	Errors    int64  `json:"errors"`
	BytesOut  int64  `json:"bytes_out"`
}
