package tare

// Isolation is the way in which the contenders of a round take turns. A round is one trial (process) of every
// contender; a slice is the work of one contender while the others wait.
type Isolation string

// Isolations.
const (
	Lockstep  Isolation = "lockstep" // all trials are open at the same time and take turns slice by slice
	TrialWise Isolation = "trial"    // one complete trial after another
)

// Reference is the denominator of ratios to the baseline, for metrics that are measured per slice.
type Reference string

// BaselineAndControl means that the denominator is the mean of the baseline and the control, which is the
// same program a second time. In older plans Reference is "", and the denominator is the baseline.
const BaselineAndControl Reference = "baseline+control"

// Plan determines the rounds of a study. All orders in the rounds follow from its seed.
type Plan struct {
	Seed            string       `json:"seed"`
	Isolation       Isolation    `json:"isolation"`
	Reference       Reference    `json:"reference,omitempty"`
	Contenders      []string     `json:"contenders"`      // ids of all contenders of a round, including control and null
	Looks           []int        `json:"looks"`           // numbers of rounds after which the evidence is judged
	Until           float64      `json:"until,omitempty"` // goal: every difference is significant or smaller than this share; 0 means that only the budget ends the rounds
	RoundsPlanned   int          `json:"rounds_planned"`
	Slices          []Slicing    `json:"slices"`                   // one per workload
	SecondsPerRound float64      `json:"seconds_per_round"`        // forecast
	PilotSeconds    float64      `json:"pilot_seconds,omitempty"`  // duration of the pilots
	BudgetSeconds   float64      `json:"budget_seconds,omitempty"` // 0 means a fixed number of rounds
	Stretched       bool         `json:"stretched,omitempty"`      // the run exceeds the budget, because a verdict needs more rounds than fit
	LeftOut         []NotWeighed `json:"left_out,omitempty"`       // parts of the study that a budget set by the user has no time for
	Retired         []Retired    `json:"retired,omitempty"`        // contenders that left early, because they were proven slower than the leaders on everything
	Fits            bool         `json:"fits,omitempty"`           // the budget has time for the least number of rounds for a verdict
	Revised         int          `json:"revised,omitempty"`        // number of rounds after which the number of slices was planned again; 0 means never
	LongEvery       int          `json:"long_every,omitempty"`     // number of rounds between extra rounds with slices of eight times the length; 0 means no extra rounds
}

// Retired is a contender that left the rounds early.
type Retired struct {
	Contender string `json:"contender"`
	After     int    `json:"after"` // number of rounds it took part in
}

// Pilot contains the estimates for one contender on one workload from a short run before the first round. "Of a
// benchmark" means that the contender consists of Go benchmarks.
type Pilot struct {
	Contender   string  `json:"contender"`
	Workload    string  `json:"workload"`
	NSPerOp     float64 `json:"ns_per_op"`
	BytesPerOp  float64 `json:"bytes_per_op"`
	AllocsPerOp float64 `json:"allocs_per_op"`
	CycleNS     float64 `json:"cycle_ns,omitempty"`  // wall time from one collection cycle to the next; 0 if no cycle was observed
	SetupNS     float64 `json:"setup_ns"`            // time per round before the first slice: start, prepare, sample of cases and warm-up
	AroundNS    float64 `json:"around_ns,omitempty"` // of a benchmark: overhead of package testing around each slice

	UntimedNS float64 `json:"untimed_ns,omitempty"` // of a benchmark: time of an operation while its timer is stopped
	Process   string  `json:"process,omitempty"`    // of a benchmark: its package, all of whose benchmarks run in one process
	StartNS   float64 `json:"start_ns,omitempty"`   // time to start that process, once per round
	Counted   bool    `json:"counted,omitempty"`    // of a benchmark in complete runs: its slices count allocations, without a separate pass
}

// ElapsedNS returns the duration of an operation, including its untimed part.
func (p Pilot) ElapsedNS() float64 { return p.NSPerOp + p.UntimedNS }

// TimedShare returns the timed share of the duration of an operation: 1 unless a benchmark stops its
// timer.
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

// Slicing divides one workload into slices. All contenders run the same number of slices. If a contender
// allocates, each of its slices lasts for complete garbage collection cycles; the slices of the other
// contenders are about as long.
type Slicing struct {
	Workload    string           `json:"workload"`
	Contenders  []string         `json:"contenders"`              // ids of the contenders that support the workload
	Count       int              `json:"count"`                   // number of slices per round and contender
	Block       int              `json:"block"`                   // number of slices that are summed into one block
	TargetNS    int64            `json:"target_ns"`               // desired length of a slice
	MinNS       int64            `json:"min_ns"`                  // shortest slice with UntilGC
	CapNS       int64            `json:"cap_ns"`                  // longest slice with UntilGC
	Until       map[string]Until `json:"until"`                   // condition that ends a slice, by contender, like all maps of this type
	Ops         map[string]int64 `json:"ops"`                     // number of operations in TargetNS
	Cycles      map[string]int64 `json:"cycles,omitempty"`        // number of collection cycles in TargetNS, of contenders until gc
	MemoryOps   int64            `json:"memory_ops"`              // number of operations of the pass that counts allocations, the same for all
	Lead        map[string]int64 `json:"lead"`                    // number of unmeasured operations before each slice
	Visits      bool             `json:"visits,omitempty"`        // the contenders are servers, and a load generator loads one after the other
	RatioOfSums bool             `json:"ratio_of_sums,omitempty"` // effects are ratios of sums instead of blocks, because a collection cycle does not fit in a slice
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

// Round is one trial of every contender, in random order. Rounds are the unit of inference.
type Round struct {
	Index     int                   `json:"round"`     // from 1
	Tau       int                   `json:"tau"`       // slice length as a multiple of the plan's; 1, or 8 in the rounds that check slice length
	Start     []string              `json:"start"`     // order in which the trials are opened
	Workloads []string              `json:"workloads"` // order in which they run
	Orders    map[string][][]string `json:"orders"`    // workload → slice → contenders in the order in which they run it
	Noise     Noise                 `json:"noise"`     // of the machine, over the round
	Seconds   float64               `json:"seconds"`   // wall time
}

// Effects contains the effects of one pair of contenders: the logarithm of the ratio, ln(a/b), of each round.
// A pair is stored in one order only; the effects of the reverse pair are the negatives.
type Effects struct {
	Workload string    `json:"workload"`
	Metric   string    `json:"metric"`
	A        string    `json:"a"`
	B        string    `json:"b"`
	Effects  []float64 `json:"effects"`             // Hodges–Lehmann estimate over blocks, or the ratio of sums if the plan selects it
	Sums     []float64 `json:"sums,omitempty"`      // ln of the ratio of sums, for comparison
	Of       []int     `json:"of_rounds,omitempty"` // the round of each effect; nil means rounds 1, 2, 3 and so on
}

// Slice is the result of one slice: the work of one contender on one workload while all others waited. The
// contender that may work has the token.
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
