package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This check finds load tests that measured the load generator instead of the server. Send lag is
// the time by which requests were sent late. The null server does almost nothing.

const (
	maxLagShare    = 0.1  // tolerated send lag, as a share of the latency or its limit
	minLag         = 1e6  // ns; a smaller send lag matters only to a p50 or a criterion
	voidThroughput = 1.25 // least throughput of the null server over the contender's
	warnThroughput = 2    // below this multiple there is a warning
	minShownWait   = 0.01 // least share of waiting time that a message mentions
)

func generatorHeadroom() Check {
	return Check{
		ID:       "generator-headroom",
		Severity: tare.Void,
		Summary: "The load generator must have been able to do more. There are three limits, each compared with the middle over rounds. First, it used, or was ready to run and waited for, at most 85 % of its cores. " +
			"Second, the p99 of its send lag, the time by which it sent late, is at most 10 % of the criterion's limit on that latency (without a criterion at most 1 ms, or 10 % of the p99 if that is more). If the latency is a p50, the p50 of the send lag must be at most 10 % of that limit, or without a criterion 10 % of the p50 itself. " +
			"Third, in a closed loop the null server, which does almost nothing, reached 1.25 times the contender's throughput in the same rounds. " +
			"Beyond the first and the third limit, throughput and latencies are void; beyond the second, that latency. CPU per request remains valid. If the null server reached less than 2 times the contender's throughput, the check warns. Servers at a URL are not compared with the null server. " +
			"A contender's own client is part of the contender's cost: if that client is busy the check only warns, and it does not compare the contender with the null server, which has another client.",
		Why: "ab, ghz and hey need more CPU time for a request than many servers need to answer it. If several servers seem equally fast, the limit may be that of the tool; " +
			"and a tool that sends late measures its own queue.",
		Advice: "compare CPU per request, which a busy load generator does not affect, or give the load generator more cores",
		voidReasons: func(in Input, contender string) (out []voidReason) {
			c, _ := in.Contender(contender)
			for _, w := range in.trafficWorkloads() {
				out = append(out, in.headroomReasons(c, w)...)
			}
			return out
		},
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, w := range in.trafficWorkloads() {
				for _, c := range in.measuredContenders() {
					out = append(out, findHeadroom(in, c, w)...)
				}
			}
			return out
		},
	}
}

// findHeadroom returns a void for each metric that the load generator limited. A near limit is a
// warning, and so is a busy client of the contender's own.
func findHeadroom(in Input, c tare.Contender, w tare.Workload) []tare.Finding {
	ownClient := in.hasOwnClient(c.ID, w.ID)
	busyText := whyBusy(in, c.ID, w.ID, nameSender(ownClient))
	var voidText, warnText string
	switch {
	case !ownClient:
		var nearText string
		nearText, warnText = compareWithNull(in, c, w)
		voidText = joinNonEmpty(busyText, nearText)
	case busyText != "": // the client is part of the contender's cost
		warnText = busyText + ": what its client costs limits its throughput and its latencies"
	}
	var out []tare.Finding
	for _, name := range in.capacityMetrics(w) {
		if message := joinNonEmpty(voidText, whyLate(in, c.ID, w, name)); message != "" {
			out = append(out, tare.Finding{Contender: c.ID, Workload: w.ID, Metric: name, Message: message})
		}
	}
	if warnText != "" && voidText == "" && len(in.capacityMetrics(w)) > 0 {
		out = append(out, tare.Finding{
			Contender: c.ID, Workload: w.ID, Severity: tare.Warn, Message: warnText,
		})
	}
	return out
}

func whyBusy(in Input, contender, workload, sender string) string {
	if e, ok := in.estimateValue(contender, workload, readOccupied); !ok || e.mid <= saturated {
		return ""
	}
	busy, _ := in.estimateValue(contender, workload, readClientBusy)
	text := fmt.Sprintf("%s used %s of its cores", sender, format.Percent(busy.mid))
	if waited, ok := in.estimateValue(contender, workload, readRatio([]string{tare.KeyClientWait}, []string{tare.KeyWall, tare.KeyClientCores})); ok && waited.mid >= minShownWait {
		text += fmt.Sprintf(" and waited for them %s of the time", format.Percent(waited.mid))
	}
	return text + ", over " + format.Percent(saturated)
}

// compareWithNull compares the throughputs of the null server and of c. It returns voidText if they
// are so near that the load generator was the limit, and warnText if they are less near.
func compareWithNull(in Input, c tare.Contender, w tare.Workload) (voidText, warnText string) {
	ratio, ok := estimateOver(in.ratiosToNull(c, w))
	text := fmt.Sprintf("the null server reached %.3g× its throughput (%.3g to %.3g, %s)", ratio.mid, ratio.lo, ratio.hi, format.Count(ratio.rounds, "round"))
	switch {
	case !ok || ratio.mid >= warnThroughput:
		return "", ""
	case ratio.mid < voidThroughput:
		return text + fmt.Sprintf(", under %.3g×", voidThroughput), ""
	}
	return "", text + fmt.Sprintf(", under %d×: part of its cost is the load generator's", warnThroughput)
}

func (in Input) headroomReasons(c tare.Contender, w tare.Workload) (out []voidReason) {
	metrics := in.capacityMetrics(w)
	if len(metrics) > 0 && !in.hasOwnClient(c.ID, w.ID) {
		out = append(out,
			voidReason{aboveLimit(in.perRound(c.ID, w.ID, readOccupied), saturated)},
			voidReason{belowLimit(in.ratiosToNull(c, w), voidThroughput)})
	}
	for _, name := range metrics {
		if m, _ := tare.MetricNamed(name); m.IsLatency() {
			lag := in.sendLagOf(c.ID, w.ID, name)
			out = append(out, voidReason{aboveLimit(lag.rounds, lag.limit)})
		}
	}
	return out
}

func (in Input) hasOwnClient(contender, workload string) bool {
	e, ok := in.estimateValue(contender, workload, readKey(tare.KeyOwnClient))
	return ok && e.mid > 0
}

func nameSender(ownClient bool) string {
	if ownClient {
		return "its own client"
	}
	return "the load generator"
}

// ratiosToNull returns, per round, the null server's throughput over that of c. It returns nil if
// there is no null server, if w has a given rate, or if c is a server at a URL.
func (in Input) ratiosToNull(c tare.Contender, w tare.Workload) []float64 {
	null := in.withRole(tare.RoleNull)
	if null == "" || w.Traffic.Rate > 0 || c.Launch == tare.LaunchURL {
		return nil
	}
	return in.pairedRatios(null, c.ID, w.ID, readKey(tare.KeyRate))
}

// whyLate returns a sentence saying that requests were sent too late to judge a latency, or "".
func whyLate(in Input, contender string, w tare.Workload, metric string) string {
	m, _ := tare.MetricNamed(metric)
	lag := in.sendLagOf(contender, w.ID, metric)
	e, ok := estimateOver(lag.rounds)
	if !m.IsLatency() || !ok || e.mid <= lag.limit {
		return ""
	}
	return fmt.Sprintf("requests were sent up to %s ms late (%s), over %s ms (%s)", formatNumber(e.mid/1e6), lag.quantile, formatNumber(lag.limit/1e6), lag.limitSource)
}

// sendLag is a quantile of the send lag, with its limit.
type sendLag struct {
	quantile    string    // p50 or p99
	rounds      []float64 // by round, in ns
	limit       float64   // in ns
	limitSource string    // where limit comes from, e.g. "10 % of its p99"
}

// sendLagOf returns the p50 of the send lag for a p50, else its p99.
func (in Input) sendLagOf(contender, workload, metric string) sendLag {
	lag := sendLag{quantile: "p99", rounds: in.perRound(contender, workload, readKey(tare.KeySendLag)), limit: minLag, limitSource: "without a criterion"}
	p99, ok := in.estimateValue(contender, workload, readKey("p99_ns"))
	if ok && maxLagShare*p99.mid > lag.limit {
		lag.limit, lag.limitSource = maxLagShare*p99.mid, "10 % of its p99"
	}
	lagP50 := in.perRound(contender, workload, readKey(tare.KeySendLagP50)) // empty in older results
	p50, okP50 := in.estimateValue(contender, workload, readKey("p50_ns"))
	if metric == "p50" && okP50 && len(lagP50) > 0 {
		lag = sendLag{quantile: "p50", rounds: lagP50, limit: maxLagShare * p50.mid, limitSource: "10 % of its p50"}
	}
	if limit, ok := in.minLimit(contender, workload, metric); ok {
		lag.limit, lag.limitSource = maxLagShare*limit, "10 % of what the criterion asks"
	}
	return lag
}

// minLimit returns the strictest upper limit that a criterion sets for metric. It returns false
// without such a criterion.
func (in Input) minLimit(contender, workload, metric string) (limit float64, ok bool) {
	strictest := math.Inf(1)
	for _, c := range in.Study.Criteria {
		coversContender := c.Contender == "" || c.Contender == contender
		coversWorkload := c.Workload == "" || c.Workload == workload
		if c.Metric != metric || !coversContender || !coversWorkload {
			continue
		}
		if rule, err := c.Rule(); err == nil && rule.Kind == tare.RuleValue && rule.AtMost {
			strictest = min(strictest, rule.Limit)
		}
	}
	return strictest, !math.IsInf(strictest, 1)
}

func joinNonEmpty(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}
