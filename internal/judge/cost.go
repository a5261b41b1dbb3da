package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file converts differences between programs into processor cores. For example, 1 µs less per
// request saves 10 % of a core at 100,000 requests a second.

// onePercent is the share of a core from which a difference in cost matters.
const onePercent = 0.01

// Costs converts differences from the baseline into processor cores: the cores that both use at rate
// operations a second, and the rate at which the difference is 1 % of a core. rate may be 0.
//
// Costs uses CPU time, or wall time if metrics does not contain cpu. Servers have no costs by wall
// time, because they are idle for a part of it. Void comparisons and those without an interval are
// omitted.
func Costs(metrics []string, contenders []tare.Contender, comparisons []tare.Comparison, findings []tare.Finding, rate float64) []tare.Cost {
	metric := "time"
	if slices.Contains(metrics, "cpu") {
		metric = "cpu"
	}
	byID := map[string]tare.Contender{}
	for _, c := range contenders {
		byID[c.ID] = c
	}
	var out []tare.Cost
	for _, c := range comparisons {
		isWithBaseline := byID[c.Contender].Role == tare.RoleContender && byID[c.Against].Role == tare.RoleBaseline
		if c.Metric != metric || !isWithBaseline || !c.Bounded() {
			continue
		}
		kind := byID[c.Contender].Kind
		if (kind == kindServer || kind == kindRPC) && metric != "cpu" {
			continue
		}
		if len(tare.VoidsMetric(findings, c.Contender, c.Workload, metric))+len(tare.VoidsMetric(findings, c.Against, c.Workload, metric)) > 0 {
			continue
		}
		out = append(out, computeCost(c, tare.NoiseFloor(comparisons, c.Workload, metric), rate, unitOf(kind)))
	}
	return out
}

// Kinds of contenders whose operation is a request.
const (
	kindServer = "server"
	kindRPC    = "rpc"
	kindRouter = "router"
)

// unitOf returns the text after the number of a rate: " requests", or "" for operations.
func unitOf(kind string) string {
	if kind == kindServer || kind == kindRouter || kind == kindRPC {
		return " requests"
	}
	return ""
}

// computeCost computes the cost of c at rate operations a second; 0 means no rate. floor is the noise
// floor as a logarithm: a smaller difference counts as none.
func computeCost(c tare.Comparison, floor, rate float64, unit string) tare.Cost {
	out := tare.Cost{Workload: c.Workload, Contender: c.Contender, Against: c.Against, Metric: c.Metric, Rate: rate}
	perOp := c.AgainstValue / 1e9 // of the baseline, in seconds of a core; AgainstValue is in ns
	isShown := c.Differs(floor) == tare.Significant
	if isShown {
		out.OnePercent = onePercent / math.Abs(perOp*(1-c.Ratio))
	}
	if rate > 0 {
		out.AgainstCores = rate * perOp
		out.Cores = out.AgainstCores * c.Ratio
		out.Saved = out.AgainstCores * (1 - c.Ratio)
		out.SavedLow, out.SavedHigh = out.AgainstCores*(1-c.High), out.AgainstCores*(1-c.Low)
	}
	out.Sentence = describeCost(out, isShown, unit)
	return out
}

func describeCost(c tare.Cost, isShown bool, unit string) string {
	switch {
	case !isShown:
		return fmt.Sprintf("%s and %s on %s: no difference was shown, so none can be priced.", c.Contender, c.Against, c.Workload)
	case c.Rate == 0:
		return fmt.Sprintf("%s and %s on %s: the difference is 1 %% of a core at %s%s a second.", c.Contender, c.Against, c.Workload, formatRate(c.OnePercent), unit)
	}
	change := fmt.Sprintf("saves %s (%s to %s)", format.Percent(c.Saved), format.Percent(c.SavedLow), format.Percent(c.SavedHigh))
	if c.Saved < 0 {
		change = fmt.Sprintf("costs %s more (%s to %s)", format.Percent(-c.Saved), format.Percent(-c.SavedHigh), format.Percent(-c.SavedLow))
	}
	return fmt.Sprintf("%s on %s at %s%s a second takes %s of a core and %s %s: that %s; it is 1 %% of a core at %s%s a second.",
		c.Contender, c.Workload, formatRate(c.Rate), unit, format.Percent(c.Cores), c.Against, format.Percent(c.AgainstCores), change, formatRate(c.OnePercent), unit)
}

// formatRate returns a rate with three significant digits.
func formatRate(x float64) string {
	if x < 1000 {
		return format.Significant(x)
	}
	thirdDigit := math.Pow(10, math.Floor(math.Log10(x))-2) // value of the third significant digit
	return groupThousands(format.Fixed(math.Round(x/thirdDigit)*thirdDigit, 0))
}
