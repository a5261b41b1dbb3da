package tare

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Criterion is a rule about one metric, which a study declares before measuring. For example, chi
// must take at most half the time of the baseline. Exactly one of Ratio, Equivalent, Value and
// Difference is set.
type Criterion struct {
	Contender  string `json:"contender,omitempty"` // "" means every contender
	Workload   string `json:"workload,omitempty"`  // "" means every workload
	Metric     string `json:"metric"`
	Ratio      string `json:"ratio,omitempty"`      // limit of the ratio to the baseline, e.g. "<= 0.5"
	Equivalent string `json:"equivalent,omitempty"` // largest difference from the baseline, either way, e.g. "3%"
	Value      string `json:"value,omitempty"`      // limit of the absolute value, e.g. "<= 50ms"
	Difference string `json:"difference,omitempty"` // limit of the difference from the baseline, as a share of the baseline on workload Of, e.g. "<= 5%"
	Of         string `json:"of,omitempty"`         // workload whose value is the 100 % of Difference; only set with Difference
}

// RuleKind is the field of a criterion that has its limit.
type RuleKind string

// Rule kinds.
const (
	RuleRatio      RuleKind = "ratio"
	RuleEquivalent RuleKind = "equivalent"
	RuleValue      RuleKind = "value"
	RuleDifference RuleKind = "difference"
)

// Rule is a parsed criterion.
type Rule struct {
	Kind   RuleKind
	AtMost bool    // true for <=, false for >=
	Limit  float64 // a ratio, a share (0.03 for 3 %), or a value in the metric's base unit
}

// Rule parses the criterion. It returns a *FieldError if the criterion is invalid.
func (c Criterion) Rule() (Rule, error) {
	forms := 0
	for _, s := range []string{c.Ratio, c.Equivalent, c.Value, c.Difference} {
		if s != "" {
			forms++
		}
	}
	if forms != 1 {
		return Rule{}, fieldError("", "a criterion needs exactly one of ratio, equivalent, value and difference", `e.g. ratio: "<= 0.5"`)
	}
	if c.Metric == "" {
		return Rule{}, fieldError("metric", "criterion without a metric", "e.g. metric: time")
	}
	switch {
	case c.Ratio != "":
		return c.parseRatio()
	case c.Equivalent != "":
		return c.parseEquivalent()
	case c.Difference != "":
		return c.parseDifference()
	}
	return c.parseValue()
}

func (c Criterion) parseRatio() (Rule, error) {
	atMost, rest, err := cutComparator(c.Ratio)
	if err != nil {
		return Rule{}, prefixPath("ratio", err)
	}
	x, err := strconv.ParseFloat(rest, 64)
	if err != nil || !isPositive(x) {
		return Rule{}, fieldError("ratio", fmt.Sprintf("%q is not a positive number", rest), `e.g. "<= 0.5"`)
	}
	return Rule{RuleRatio, atMost, x}, nil
}

func (c Criterion) parseEquivalent() (Rule, error) {
	x, ok := parsePercent(strings.TrimSpace(c.Equivalent))
	if !ok || x >= 100 {
		return Rule{}, fieldError("equivalent", fmt.Sprintf("%q is not a percentage between 0 and 100", c.Equivalent), `e.g. "3%"`)
	}
	return Rule{RuleEquivalent, true, x / 100}, nil
}

func (c Criterion) parseDifference() (Rule, error) {
	atMost, rest, err := cutComparator(c.Difference)
	if err != nil {
		return Rule{}, prefixPath("difference", err)
	}
	x, ok := parsePercent(rest)
	if !ok || !atMost {
		return Rule{}, fieldError("difference", fmt.Sprintf("%q is not <= and a percentage above 0", c.Difference), `e.g. "<= 5%"`)
	}
	if c.Of == "" {
		return Rule{}, fieldError("of", "a difference of nothing", "name the workload it is a share of, e.g. of: socket/health")
	}
	return Rule{RuleDifference, true, x / 100}, nil
}

// parsePercent returns e.g. 3 for "3%".
func parsePercent(s string) (x float64, ok bool) {
	number, hasSign := strings.CutSuffix(s, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	return x, hasSign && err == nil && isPositive(x)
}

// isPositive returns false for NaN and infinity.
func isPositive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

func (c Criterion) parseValue() (Rule, error) {
	atMost, rest, err := cutComparator(c.Value)
	if err != nil {
		return Rule{}, prefixPath("value", err)
	}
	x, err := parseQuantity(rest)
	if err != nil {
		return Rule{}, prefixPath("value", err)
	}
	return Rule{RuleValue, atMost, x}, nil
}

// ParseCriterion parses the output of [Criterion.String]. It has no contender and no workload.
func ParseCriterion(text string) (Criterion, error) {
	metric, rest, _ := strings.Cut(text, " ")
	c := Criterion{Metric: metric}
	if after, ok := strings.CutPrefix(rest, "ratio "); ok {
		c.Ratio = after
	} else if after, ok := strings.CutPrefix(rest, "equivalent within "); ok {
		c.Equivalent = after
	} else if after, ok := strings.CutPrefix(rest, "difference "); ok {
		c.Difference, c.Of, _ = strings.Cut(after, " of ")
	} else {
		c.Value = rest
	}
	_, err := c.Rule()
	return c, err
}

// String returns the metric and the limit, e.g. "time ratio <= 0.5", "cpu equivalent within 3%",
// "cpu difference <= 5% of socket/health" or "rss <= 50MB".
func (c Criterion) String() string {
	switch {
	case c.Ratio != "":
		return c.Metric + " ratio " + c.Ratio
	case c.Equivalent != "":
		return c.Metric + " equivalent within " + c.Equivalent
	case c.Difference != "":
		return c.Metric + " difference " + c.Difference + " of " + c.Of
	}
	return c.Metric + " " + c.Value
}

func cutComparator(s string) (atMost bool, rest string, err error) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "<="); ok {
		return true, strings.TrimSpace(rest), nil
	}
	if rest, ok := strings.CutPrefix(s, ">="); ok {
		return false, strings.TrimSpace(rest), nil
	}
	return false, "", fieldError("", fmt.Sprintf("%q does not start with <= or >=", s), `e.g. "<= 0.5"`)
}

// parseQuantity parses a duration, a size or a number without a unit. It returns ns, bytes, or the
// number.
func parseQuantity(s string) (float64, error) {
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return x, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return float64(d.Nanoseconds()), nil
	}
	for _, u := range []struct {
		suffix string
		scale  float64
	}{{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}} {
		if num, ok := strings.CutSuffix(s, u.suffix); ok {
			if x, err := strconv.ParseFloat(strings.TrimSpace(num), 64); err == nil {
				return x * u.scale, nil
			}
		}
	}
	return 0, fieldError("", fmt.Sprintf("%q is not a quantity", s), "e.g. 50ms, 100MB or 12")
}

// Ruling is the result of a criterion.
type Ruling string

// Rulings.
const (
	Met          Ruling = "met"
	NotMet       Ruling = "not met"
	Inconclusive Ruling = "inconclusive"
	VoidRuling   Ruling = "void"
)

// Verdict is the ruling of a criterion, in a sentence. Without a criterion it only states the
// difference from the baseline.
type Verdict struct {
	Rule Rule `json:"-"` // zero without a criterion

	Contender    string `json:"contender"`
	Workload     string `json:"workload"`
	Metric       string `json:"metric"`
	Criterion    string `json:"criterion,omitempty"`
	Verdict      Ruling `json:"verdict,omitempty"` // "" without a criterion
	Sentence     string `json:"sentence"`
	RoundsNeeded int    `json:"rounds_needed,omitempty"` // number of rounds that is expected to decide an inconclusive verdict; 0 if unknown
}

// UnmarshalJSON parses a verdict, and sets its rule from the text of its criterion.
func (v *Verdict) UnmarshalJSON(text []byte) error {
	type withoutMethod Verdict // Unmarshal does not call this method again for it
	if err := json.Unmarshal(text, (*withoutMethod)(v)); err != nil || v.Criterion == "" {
		return err
	}
	// A later version of tare may have criteria that this version cannot parse.
	if c, err := ParseCriterion(v.Criterion); err == nil {
		v.Rule, _ = c.Rule()
	}
	return nil
}
