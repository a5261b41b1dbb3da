package tare

import (
	"fmt"
	"slices"
	"strings"
)

// ClaimKind is the kind of a claim, a published statement that a study tests again. It decides how
// the claim is judged.
type ClaimKind string

// Claim kinds.
const (
	ClaimRatio     ClaimKind = "ratio"     // the ratio to the baseline, or to Of, is Value/Baseline; without these figures it is on Side of 1
	ClaimStatement ClaimKind = "statement" // a sentence without figures; refuted if Check has a finding about the contender
	ClaimCount     ClaimKind = "count"     // Contender needs Value more modules than the baseline, by go.mod or else by the binary
	ClaimTrend     ClaimKind = "trend"     // the ratio to the baseline falls (Side lower) or rises (Side higher) along Workloads
	ClaimGrowth    ClaimKind = "growth"    // the contender's time grows as size^Value along Workloads, which differ only in size
	ClaimShare     ClaimKind = "share"     // Contender saves at least the share Value of the baseline's cost
	ClaimRate      ClaimKind = "rate"      // at up to Value operations per second the baseline takes at most 1 % of a core more
	ClaimCause     ClaimKind = "cause"     // the steps to Causes explain all of the difference that Decomposition splits
	ClaimReported  ClaimKind = "reported"  // published but not measured, for the reason Because
)

// Claim is a published statement with its figures and its source, which a study tests again. If the
// comment of a field begins with a kind, only such claims have the field.
type Claim struct {
	ID            string    `json:"id"`
	Source        string    `json:"source"`          // name in Study.Sources
	Place         string    `json:"place,omitempty"` // heading above the claim in the source
	Shown         []Shown   `json:"shown,omitempty"` // public code that shows how the published figures were measured
	Kind          ClaimKind `json:"kind"`
	Contender     string    `json:"contender"`
	StandIn       string    `json:"stand_in,omitempty"` // contender to use if Contender was not measured
	Workload      string    `json:"workload"`
	Workloads     []string  `json:"workloads,omitempty"` // trend, growth: in order; rate: of the break-even
	Metric        string    `json:"metric"`
	Baseline      float64   `json:"baseline"` // published value of the baseline, in Unit
	Value         float64   `json:"value"`    // published value of the contender, in Unit
	Unit          string    `json:"unit"`
	Whole         float64   `json:"whole,omitempty"`         // ratio: total of both values, in Unit, e.g. the 16.6 ms of a frame; 0 if none
	WholeOf       string    `json:"whole_of,omitempty"`      // name of Whole: "a frame at 60 a second"
	Side          string    `json:"side,omitempty"`          // claimed side of 1: lower or higher; a ratio with figures needs it only if they are on the other side
	Target        float64   `json:"target,omitempty"`        // ratio: published target, which the entire interval must reach for the claim to hold; 0 if none
	Of            ClaimOf   `json:"of,omitzero"`             // ratio: denominator, if it is not the baseline on the same workload and metric
	Plus          string    `json:"plus,omitempty"`          // ratio: second metric, to add to Metric in both values
	Check         string    `json:"check,omitempty"`         // statement: id of the check that decides the claim
	Except        []string  `json:"except,omitempty"`        // statement about semantics: properties that the claim itself excepts, e.g. float digits
	Decomposition string    `json:"decomposition,omitempty"` // cause: id of the decomposition that decides the claim
	Causes        []string  `json:"causes,omitempty"`        // cause: contenders at the ends of the claimed steps
	Because       string    `json:"because,omitempty"`       // reported: why the claim is not measured
	Statement     string    `json:"statement"`
}

// ClaimOf is the denominator of a claimed ratio: a value of the same contender, or of another.
type ClaimOf struct {
	Contender string `json:"contender,omitempty"` // "" means the contender of the claim
	Workload  string `json:"workload"`
	Metric    string `json:"metric"`
}

// Shown is a line of public code that shows how the figures of a claim were measured.
type Shown struct {
	Repository string `json:"repository"` // e.g. github.com/owner/name
	Commit     string `json:"commit"`
	Path       string `json:"path"`
	Line       int    `json:"line"`
	Says       string `json:"says"` // description of the code, e.g. the answer is closed unread
}

// URL returns the address of the line.
func (s Shown) URL() string {
	return fmt.Sprintf("https://%s/blob/%s/%s#L%d", s.Repository, s.Commit, s.Path, s.Line)
}

// Directed reports whether a claim of a ratio has only a side of 1, without figures.
func (c Claim) Directed() bool {
	return c.Kind == ClaimRatio && c.Baseline == 0 && c.Value == 0 && c.Side != ""
}

// Validate returns an error if a field that the claim's kind needs is missing or invalid.
func (c Claim) Validate() error {
	validate, known := claimValidators()[c.Kind]
	switch {
	case c.ID == "":
		return fieldError("id", "claim without an id", "e.g. id: F0.9")
	case !known:
		return fieldError("kind", fmt.Sprintf("unknown claim kind %q", c.Kind), "known: "+claimKindNames())
	case c.Contender == "" && c.Kind != ClaimReported:
		return fieldError("contender", "claim without a contender", "name the contender it is about")
	case c.Statement == "":
		return fieldError("statement", "claim without a statement", "say what was published, in one sentence")
	}
	return validate(c)
}

func claimValidators() map[ClaimKind]func(Claim) error {
	return map[ClaimKind]func(Claim) error{
		ClaimRatio: Claim.validateRatio,
		ClaimStatement: func(c Claim) error {
			return requireField(c.Check != "", "check", "a statement without the check that answers it", "e.g. check: semantic-diff")
		},
		ClaimCause: func(c Claim) error {
			return requireField(c.Decomposition != "" && len(c.Causes) > 0, "", "a cause without a decomposition and the steps of it that are claimed", "e.g. decomposition: causes, causes: [gin-log]")
		},
		ClaimReported: func(c Claim) error {
			if c.Because == "" {
				return fieldError("because", "a reported claim without the reason why nothing measures it", "e.g. because: the service is not to be had any more")
			}
			return requireField(!(c.Value < 0), "value", "a published figure below zero", "omit it if there is no such figure")
		},
		ClaimCount: func(c Claim) error {
			return requireField(c.Value > 0, "value", "a count without the published number", "e.g. value: 30")
		},
		ClaimTrend: func(c Claim) error {
			return requireField(len(c.Workloads) >= 3 && c.Metric != "" && (c.Side == "lower" || c.Side == "higher"),
				"", "a trend needs three workloads or more, a metric and a side", "e.g. workloads: [one, five, fifty], metric: time, side: lower")
		},
		ClaimGrowth: func(c Claim) error {
			return requireField(len(c.Workloads) >= 3 && c.Metric == "time" && c.Value >= 0 && c.Value <= 10,
				"", "a growth needs three workloads or more that differ in size alone, metric: time and an exponent", "e.g. workloads: [one, five, fifty], metric: time, value: 2 for quadratic, 0 for the same whatever the size")
		},
		ClaimRate: func(c Claim) error {
			return requireField(len(c.Workloads) > 0 && c.Value > 0, "", "a rate needs the workloads of a break-even and the published operations a second", "e.g. workloads: [small, large], value: 10")
		},
		ClaimShare: func(c Claim) error {
			if err := c.requireMeasured(); err != nil {
				return err
			}
			return requireField(c.Value > 0 && c.Value < 1, "value", "a share that is not between 0 and 1", "e.g. value: 0.5 for half of what the baseline takes")
		},
	}
}

func requireField(ok bool, field, problem, hint string) error {
	if ok {
		return nil
	}
	return fieldError(field, problem, hint)
}

func (c Claim) requireMeasured() error {
	if c.Workload == "" {
		return fieldError("workload", "claim without a workload", "name the workload it is about")
	}
	return requireField(c.Metric != "", "metric", "claim without a metric", "e.g. metric: time")
}

func (c Claim) validateRatio() error {
	if err := c.requireMeasured(); err != nil {
		return err
	}
	isTargetOnSide := c.Target > 0 && (c.Target < 1) == (c.Ratio() < 1)
	switch {
	case c.Of != (ClaimOf{}) && (c.Of.Workload == "" || c.Of.Metric == ""):
		return fieldError("of", "a figure of the contender without its workload or its metric", "e.g. of: {workload: ten, metric: time}")
	case c.Plus != "" && c.Of == (ClaimOf{}):
		return fieldError("plus", "a sum of two metrics without the figure that it is compared with", "add of: {contender: …, workload: …, metric: …}")
	case c.Target != 0 && !isTargetOnSide:
		return fieldError("target", "a target that is not on the claimed side of 1", "as a ratio to the baseline, e.g. target: 0.5 for twice as fast")
	case c.Directed() && c.Whole == 0:
		return nil
	case !(c.Baseline > 0) || !(c.Value > 0):
		return fieldError("", "a ratio claim needs baseline and value above zero", "give both published figures, or leave both out and write side: lower or higher")
	case c.Side != "" && c.Side != "lower" && c.Side != "higher":
		return fieldError("side", fmt.Sprintf("%q is neither lower nor higher", c.Side), "say which side of 1 is claimed")
	}
	return c.validateWhole()
}

func (c Claim) validateWhole() error {
	_, isTime := c.Nanoseconds()
	m, _ := MetricNamed(c.Metric)
	switch {
	case c.Whole == 0 && c.WholeOf == "":
		return nil
	case !(c.Whole > 0):
		return fieldError("whole", "a whole that is not above zero", "in the unit of the figures, e.g. whole: 16.6")
	case c.WholeOf == "":
		return fieldError("whole_of", "a whole without what it is", "as a noun, e.g. whole_of: a frame at 60 a second")
	case !isTime:
		return fieldError("unit", fmt.Sprintf("a whole in %q", c.Unit), "a time: ns, µs, ms or s, and what it is for, e.g. ms/frame")
	case !strings.HasPrefix(m.Unit, "ns"):
		return fieldError("metric", fmt.Sprintf("a whole of %s, which is no time", c.Metric), "e.g. metric: time")
	}
	return nil
}

// Nanoseconds returns how many ns the claim's Unit has, e.g. 1e6 for ms/frame. It returns false if
// Unit is no unit of time.
func (c Claim) Nanoseconds() (float64, bool) {
	unit, _, _ := strings.Cut(c.Unit, "/")
	ns, ok := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
	return ns, ok
}

func claimKinds() []ClaimKind {
	return []ClaimKind{ClaimRatio, ClaimStatement, ClaimCount, ClaimTrend, ClaimGrowth, ClaimShare, ClaimRate, ClaimCause, ClaimReported}
}

func claimKindNames() string {
	var names []string
	for _, k := range claimKinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// Ratio returns the published effect: value over baseline, or 1 without figures.
func (c Claim) Ratio() float64 {
	if c.Baseline == 0 {
		return 1
	}
	return c.Value / c.Baseline
}

// Outcome is the result of testing a claim.
type Outcome string

// Outcomes. Package internal/judge documents their conditions.
const (
	Holds             Outcome = "holds"
	MoreThanPublished Outcome = "more than published" // the difference is larger than published
	DirectionHolds    Outcome = "direction holds"
	Tie               Outcome = "tie"
	Refuted           Outcome = "refuted"
	VoidAsPublished   Outcome = "void as published"
	NotThatSize       Outcome = "not the published size" // the side is open, but the interval excludes the published size
	ClaimOpen         Outcome = "inconclusive"
	NotMeasured       Outcome = "not measured"
)

// Outcomes returns every outcome, in the order in which they are counted.
func Outcomes() []Outcome {
	return []Outcome{Holds, MoreThanPublished, DirectionHolds, Tie, Refuted, VoidAsPublished, NotThatSize, ClaimOpen, NotMeasured}
}

// IsOpen reports whether the side of the difference is still open, so that more rounds can show it.
func (o Outcome) IsOpen() bool { return o == ClaimOpen || o == NotThatSize }

// ClaimResult is a claim with the measurements of this result.
type ClaimResult struct {
	ID          string    `json:"id"`
	Kind        ClaimKind `json:"kind"`
	Source      string    `json:"source"`
	SourceURL   string    `json:"source_url,omitempty"`
	Place       string    `json:"place,omitempty"`
	Shown       []Shown   `json:"shown,omitempty"`
	Statement   string    `json:"statement"`
	Evidence    string    `json:"evidence"` // the comparison or the check that decides the claim
	Contender   string    `json:"contender"`
	Workload    string    `json:"workload"`
	Metric      string    `json:"metric"`
	Published   float64   `json:"published"`      // published ratio; the Value of other claims
	Unit        string    `json:"unit,omitempty"` // unit of the published figures
	Measured    float64   `json:"measured,omitempty"`
	Low         float64   `json:"low,omitempty"`  // interval of Measured
	High        float64   `json:"high,omitempty"` //
	Outcome     Outcome   `json:"outcome"`
	SizeRefuted bool      `json:"size_refuted,omitempty"` // the interval excludes the published size: the difference is smaller
	Why         string    `json:"why"`

	// PublishedValue and PublishedBaseline are the published figures of a ratio, in Unit.
	PublishedValue    float64 `json:"published_value,omitempty"`
	PublishedBaseline float64 `json:"published_baseline,omitempty"`

	Shares *Shares `json:"shares,omitempty"` // nil if the claim has no total (Claim.Whole), or if a value was not measured
}

// Shares contains the values of a claim that are parts of a total, in Unit. The bounds are those of
// the median over rounds, at 95 %.
type Shares struct {
	Whole             float64 `json:"whole"`    // the total
	WholeOf           string  `json:"whole_of"` // name of the total
	Unit              string  `json:"unit"`
	Against           string  `json:"against"`            // id of the baseline
	Published         float64 `json:"published"`          // published value of the contender
	PublishedBaseline float64 `json:"published_baseline"` // published value of the baseline
	Measured          float64 `json:"measured"`           // measured value of the contender
	Low               float64 `json:"low"`
	High              float64 `json:"high"`
	Baseline          float64 `json:"baseline"` // measured value of the baseline
	BaselineLow       float64 `json:"baseline_low"`
	BaselineHigh      float64 `json:"baseline_high"`
}

// BreakEven requests the break-even of a contender: the rate in operations per second from which it
// matters that the baseline costs more.
type BreakEven struct {
	Contender string    `json:"contender"`
	Workloads []string  `json:"workloads"`
	Rates     []float64 `json:"rates_per_second"` // ascending
}

func (b BreakEven) validate(path string, s *Study, workloads, contenders map[string]bool) error {
	switch {
	case !contenders[b.Contender]:
		return fieldError(path+".contender", fmt.Sprintf("unknown contender %q", b.Contender), "name one of the study's contenders")
	case b.Contender == s.Baseline:
		return fieldError(path+".contender", "the baseline against itself", "name one of the others")
	case len(b.Workloads) == 0:
		return fieldError(path+".workloads", "a break-even without workloads", "name the study's workloads")
	case len(b.Rates) == 0:
		return fieldError(path+".rates", "a break-even without rates", "e.g. rates: [10/s, 1000/s]")
	}
	for i, id := range b.Workloads {
		if !workloads[id] {
			return fieldError(fmt.Sprintf("%s.workloads[%d]", path, i), fmt.Sprintf("unknown workload %q", id), "name the study's workloads")
		}
	}
	for i, rate := range b.Rates {
		if !(rate > 0) || i > 0 && rate <= b.Rates[i-1] {
			return fieldError(fmt.Sprintf("%s.rates[%d]", path, i), "rates ascend from above zero", "e.g. rates: [10/s, 1000/s]")
		}
	}
	if !slices.Contains(s.Metrics, "cpu") && !slices.Contains(s.Metrics, "time") {
		return fieldError(path, "a break-even of neither cpu nor time", "add cpu to metrics:")
	}
	return nil
}

// BreakEvenResult is the excess cost of the baseline over a contender, by workload and rate.
type BreakEvenResult struct {
	Contender string           `json:"contender"`
	Against   string           `json:"against"`
	Metric    string           `json:"metric"` // cpu, or time if the study does not measure cpu
	Rates     []float64        `json:"rates_per_second"`
	Level     float64          `json:"level"`  // confidence of each interval, over all interim analyses
	Points    []BreakEvenPoint `json:"points"` // sorted by members, then levels
	Sentence  string           `json:"sentence"`
}

// BreakEvenPoint is the excess cost of the baseline on one workload.
type BreakEvenPoint struct {
	Workload string  `json:"workload"`
	Members  int     `json:"members,omitempty"` // see Workload
	Levels   int     `json:"levels,omitempty"`
	More     float64 `json:"more_ns_per_op"` // excess cost of an operation; negative if the baseline costs less
	MoreLow  float64 `json:"more_ns_per_op_low"`
	MoreHigh float64 `json:"more_ns_per_op_high"`

	// Cores is the excess cost in processor cores at each of the rates: 0.01 is 1 % of a core.
	Cores []float64 `json:"more_cores"`

	// OnePercent is the rate at which the excess cost is 1 % of a core. 0 means that no excess was
	// shown.
	OnePercent     float64 `json:"one_percent_rate_per_second,omitempty"`
	OnePercentLow  float64 `json:"one_percent_rate_per_second_low,omitempty"`
	OnePercentHigh float64 `json:"one_percent_rate_per_second_high,omitempty"`

	Rounds   int       `json:"rounds"`
	PerRound []float64 `json:"per_round"` // excess cost of each round, in ns per operation
}
