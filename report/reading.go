package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// explainTerms explains the terms and marks in the tables of r.
func explainTerms(r *tare.Result) []Item {
	base := r.Baseline()
	if len(r.Workloads) == 0 || base == "" {
		return nil
	}
	var out []Item
	add := func(term, text string) { out = append(out, labelledItem(term, text)) }
	add("ratio", fmt.Sprintf("a contender's figure divided by that of %s, round by round: 0.5 is half of it, 1 the same, 2 twice%s", base, describeDirection(r)))
	if len(r.Comparisons) > 0 {
		add("interval", "where the true ratio lies, with the confidence given; one that includes 1 means: no significant difference")
	}
	if hasRanks(r) {
		add("rank", "best to worst place the evidence allows; same letter: no significant difference")
	}
	add("figures", "medians over rounds; each round is one fresh process per contender")
	if slices.Contains(r.Metrics, tare.MetricInstructions) {
		add(tare.MetricInstructions, describeInstructions(r))
	}
	out = append(out, explainTrafficTerms(r)...)
	if text := explainDifference(r); text != "" && !hasManyRulings(r) { // else it is above the tables of criteria
		add("difference", strings.TrimPrefix(strings.TrimSuffix(text, "."), " A difference is "))
	}
	if hasStruck(r) {
		out = append(out, Item{Label: "crossed out", sample: "12.3", Text: "a figure whose checks failed: shown for the record, used nowhere"})
	}
	if slices.ContainsFunc(r.Contenders, func(c tare.Contender) bool { return c.Role == tare.RoleApart && !c.Absent() }) {
		add("apart", "only the status of its responses was checked, as it does another job or part of one: it has ratios, but no rank, and is not recommended")
	}
	if hasTrap(r) {
		add("†", "wrong on purpose, to test a check: never ranked; the note at its row says which practice it repeats")
	}
	return out
}

func describeInstructions(r *tare.Result) string {
	text := "work, not time"
	if r.Counter != nil {
		text += ": counted by " + r.Counter.String() + " outside the rounds"
	}
	return text + "; waiting, the kernel, the collector, caches and branch misses are in none of them"
}

// explainTrafficTerms explains the terms of tables about servers.
func explainTrafficTerms(r *tare.Result) []Item {
	var out []Item
	if !hasServers(r) {
		return nil
	}
	hasClosed := slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.Traffic != nil && w.Traffic.Rate == 0 })
	hasOpen := slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.Traffic != nil && w.Traffic.Rate > 0 })
	if hasClosed && slices.Contains(r.Metrics, "time") {
		out = append(out, labelledItem("time, rate", "wall time divided by requests answered, and the inverse of it: how many requests a server gets through. How long one of them takes is its latency, which is longer where several are under way"))
	}
	if slices.Contains(r.Metrics, "cpu") {
		out = append(out, labelledItem("cpu", "CPU time of the server's process for one request"))
		if item := firstItemName(r); item != "" {
			out = append(out, labelledItem("cpu/"+item, "the same for 1,000 of the "+item+"s that requests carry"))
		}
	}
	if r.Kind == kindRPC {
		out = append(out, labelledItem("client", "the process that asks: the load generator, or on workloads that say so each contender's own client; the server is the one that answers"))
	} else if slices.Contains(r.Metrics, "client-cpu") {
		out = append(out, labelledItem("client-cpu", "CPU time of the load generator for one request: what the server costs its clients"))
	}
	if slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return (&view{r: r, workload: w.ID}).hasFailed() }) {
		out = append(out, labelledItem("errors", "requests of all rounds without the answer that was asked for, and in brackets how many of them timed out"))
	}
	if hasClosed {
		out = append(out, labelledItem("closed loop", "each connection sends its next request when it has an answer: as much as the server can do"))
	}
	if hasOpen {
		out = append(out, labelledItem("open loop", "requests are sent at their intended times, whatever comes back, as by users who do not know of each other"))
	}
	return out
}

// describeDirection returns the better direction of the primary metric: "; lower is better".
func describeDirection(r *tare.Result) string {
	m := findMetric(primaryMetric(r))
	if m.Direction == "" {
		return ""
	}
	return "; " + string(m.Direction) + " is better"
}

func hasRanks(r *tare.Result) bool {
	return slices.ContainsFunc(r.Comparisons, func(c tare.Comparison) bool { return c.RankLow > 0 })
}

func hasStruck(r *tare.Result) bool {
	return slices.ContainsFunc(r.Values, func(v tare.Value) bool { return v.Struck })
}

func hasTrap(r *tare.Result) bool {
	return slices.ContainsFunc(r.Contenders, func(c tare.Contender) bool { return c.Role == tare.RoleTrap })
}
