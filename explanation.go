package tare

// Explanation lists the origins of the difference between two contenders on one workload. They are
// found after the rounds, by profiles of both contenders in several rounds of their own.
type Explanation struct {
	Workload  string     `json:"workload"`
	Contender string     `json:"contender"`
	Against   string     `json:"against"`          // contender that Contender is compared with
	Rounds    int        `json:"rounds"`           // number of rounds of profiles; each profiles both contenders once, with the same number of operations
	Ops       int64      `json:"ops"`              // number of operations of each contender in one round
	WallFrom  float64    `json:"wall_from"`        // wall time of Against while profiled, in ns/op, excluding the time that its threads waited for a processor; median over rounds
	WallTo    float64    `json:"wall_to"`          // the same of Contender
	From      float64    `json:"from"`             // CPU time of Against, in ns/op; mean over rounds
	To        float64    `json:"to"`               // the same of Contender
	Functions []Origin   `json:"functions"`        // functions with a significant difference in CPU ns/op, the largest first
	Sites     []Origin   `json:"sites"`            // functions with a significant difference in allocations/op, the largest first
	Unseen    float64    `json:"unseen,omitempty"` // part of the difference in allocations/op that profiles cannot show: the allocator combines objects below 16 bytes without pointers
	Decisions []Decision `json:"decisions"`        // output of the compiler about these functions that only one side has
	Calls     []Decision `json:"calls"`            // calls in the source of these functions that only one side has
	Work      []Origin   `json:"work,omitempty"`   // functions by difference in counted instructions/op, the largest first; there may be no profiles then
	Flame     string     `json:"flame,omitempty"`  // flame graph of the differences in CPU time, relative to the result
	Why       string     `json:"why,omitempty"`    // why a part is missing; "" if nothing failed
}

// Bounds of Waits.
const (
	minProfiledNS = 2e8  // least wall time of the profiles; they have 100 samples a second, and shorter ones may have none
	minSlowdown   = 1.05 // least ratio of the wall times
	idleTimes     = 10   // a contender is idle if its wall time is at least this many times its CPU time
	idlerTimes    = 2    // or if its CPU share is less than that of Against divided by this
)

// Waits reports whether most of the difference in time is not CPU time: the contender takes longer
// than Against, the CPU share of its time is small, and waiting is more than half of the difference.
// The CPU share is also compared with that of Against, because other programs that use the processors
// reduce the shares of both in the same proportion.
func (e Explanation) Waits() bool {
	if e.WallTo*float64(e.Ops)*float64(e.Rounds) < minProfiledNS {
		return false
	}
	isIdle := e.To <= e.WallTo/idleTimes
	isIdler := e.To*e.WallFrom < e.From*e.WallTo/idlerTimes // To/WallTo < From/WallFrom/2, for times that can be 0
	return (isIdle || isIdler) && e.WallTo > minSlowdown*e.WallFrom && e.Waiting() > (e.WallTo-e.WallFrom)/2
}

// Waiting returns the part of the difference in wall time that is not CPU time, in ns/op. Each ns of
// additional CPU time counts as the wall time that Against takes for one.
func (e Explanation) Waiting() float64 {
	wallPerCPU := 1.0
	if e.From > 0 {
		wallPerCPU = max(1, e.WallFrom/e.From)
	}
	return e.WallTo - e.WallFrom - max(0, e.To-e.From)*wallPerCPU
}

// Origin is one function's part of a difference, including its calls of the standard library and
// the runtime.
type Origin struct {
	Function string  `json:"function"`
	Through  string  `json:"through,omitempty"` // function that it called directly and that has most of the part; "" means itself
	File     string  `json:"file,omitempty"`    // base name
	Line     int     `json:"line,omitempty"`
	From     float64 `json:"from"`  // value of Against per operation, mean over rounds
	To       float64 `json:"to"`    // value of the contender
	Share    float64 `json:"share"` // part of the total difference
	Low      float64 `json:"low"`   // interval of Share over rounds, simultaneous over the functions
	High     float64 `json:"high"`
}

// Decision is a fact about a function that only one side has.
type Decision struct {
	Side     string `json:"side"` // contender
	Function string `json:"function"`
	File     string `json:"file"` // base name
	Line     int    `json:"line"`
	Text     string `json:"text"`
}
