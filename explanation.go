package tare

// Explanation lists the origins of the difference between two contenders on one workload, found
// after the rounds by several profiles of each.
type Explanation struct {
	Workload  string     `json:"workload"`
	Contender string     `json:"contender"`
	Against   string     `json:"against"`          // contender
	Rounds    int        `json:"rounds"`           // of profiles: each profiled both once, with as many operations
	Ops       int64      `json:"ops"`              // of each contender in one round
	WallFrom  float64    `json:"wall_from"`        // ns/op while profiled, of Against, without what its threads waited for a processor: median over rounds
	WallTo    float64    `json:"wall_to"`          // of the contender
	From      float64    `json:"from"`             // CPU ns/op, of Against: mean over rounds
	To        float64    `json:"to"`               // of the contender
	Functions []Origin   `json:"functions"`        // in CPU ns/op: whose interval excludes no difference, those that explain most first
	Sites     []Origin   `json:"sites"`            // in allocations/op, likewise
	Unseen    float64    `json:"unseen,omitempty"` // of the difference in allocations/op, what no profile has: objects below 16 bytes without pointers, which share blocks
	Decisions []Decision `json:"decisions"`        // what the compiler printed of one side only, on these functions
	Calls     []Decision `json:"calls"`            // calls in the source of one side only, in these functions
	Work      []Origin   `json:"work,omitempty"`   // in instructions/op, counted, those that differ most first; with it nothing may be profiled
	Flame     string     `json:"flame,omitempty"`  // flame graph of the differences in CPU time, relative to the result
	Why       string     `json:"why,omitempty"`    // why there is no more; empty if nothing failed
}

// Waits reports whether most of the difference in time is not CPU time: the contender takes longer,
// and of its time a tenth at most is CPU time, or half as much as of Against's. Where other
// programs have the processors too, both take longer than their CPU time, in the same proportion.
// Of less than 0.2 s nothing is reported, as a profile takes 100 samples a second and might have
// none of it.
func (e Explanation) Waits() bool {
	if e.WallTo*float64(e.Ops)*float64(e.Rounds) < 2e8 {
		return false
	}
	idle := e.To <= e.WallTo/10 || e.To*e.WallFrom < e.From*e.WallTo/2
	return idle && e.WallTo > 1.05*e.WallFrom && e.Waiting() > (e.WallTo-e.WallFrom)/2
}

// Waiting returns the difference in time without CPU time, in ns/op, beyond the part that waiting
// for a processor explains.
func (e Explanation) Waiting() float64 {
	share := 1.0
	if e.From > 0 {
		share = max(1, e.WallFrom/e.From)
	}
	return e.WallTo - e.WallFrom - max(0, e.To-e.From)*share
}

// Origin is one function's part of a difference, including its calls of the standard library and
// the runtime.
type Origin struct {
	Function string  `json:"function"`
	Through  string  `json:"through,omitempty"` // the function that it called directly and that has most of it; empty means itself
	File     string  `json:"file,omitempty"`    // base name
	Line     int     `json:"line,omitempty"`
	From     float64 `json:"from"` // per operation, mean over rounds
	To       float64 `json:"to"`
	Share    float64 `json:"share"` // of the total difference
	Low      float64 `json:"low"`   // of the share's interval over rounds, simultaneous over the functions
	High     float64 `json:"high"`
}

// Decision is something about a function that is so on one side only.
type Decision struct {
	Side     string `json:"side"` // contender
	Function string `json:"function"`
	File     string `json:"file"` // base name
	Line     int    `json:"line"`
	Text     string `json:"text"`
}
